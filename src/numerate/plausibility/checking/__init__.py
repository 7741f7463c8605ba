"""Whole documents: read, checked, and reported in several formats."""
