"""Markdown and its kin: blocks, inline text and tables of every kind, with their places."""
