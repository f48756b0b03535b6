"""Decoding of reports beyond one frequency for each category: sparse fits and joint answers."""
