"""LaTeX source: tokens and macros, made into text that knows its places, and tables."""
