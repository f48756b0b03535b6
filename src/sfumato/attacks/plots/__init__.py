"""Plots of the attacks."""
