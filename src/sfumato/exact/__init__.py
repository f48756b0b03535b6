"""Exact numbers: parameters as rationals, and real numbers in ball arithmetic, rounded outward."""
