"""Invented data for the attacks, and readers of owners' data in the same form."""
