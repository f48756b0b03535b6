"""Mechanisms for series of numbers that come one after the other."""
