"""Exact numbers: how parameters come in, and how real numbers are decided and rounded outward."""
