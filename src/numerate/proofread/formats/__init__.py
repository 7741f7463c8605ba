"""Findings as terminal output, HTML, JSON, SARIF and CSV."""
