"""Columns as small integers, and rows of them, for models."""
