"""Findings of all kinds joined, and how people meet them: `numerate check` and its reports."""
