"""The trained detector: whether each numeral is the one that belongs where it stands."""
