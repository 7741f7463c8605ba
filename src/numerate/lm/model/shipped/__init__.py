"""Models that come with a package: found by entry points, known by their cards, used by name."""
