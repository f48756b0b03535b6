"""Exact integer laws of noise, and the continuous laws they are compared with."""
