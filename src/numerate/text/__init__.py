"""How text is cut into tokens, and the numbers in sight of a place."""
