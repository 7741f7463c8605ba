"""Whether the numbers of a text stand in its sources, follow from them, or neither."""
