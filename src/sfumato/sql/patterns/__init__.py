"""Constant patterns: formats of dates, and regular expressions."""
