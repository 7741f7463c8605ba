"""How findings are shown: the look of figures, figures with their data, one page for all."""
