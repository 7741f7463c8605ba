"""PDF: glyphs with their places, made into lines, columns, paragraphs and tables."""
