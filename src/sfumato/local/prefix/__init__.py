"""Frequent texts in the local model, by a tree of prefixes."""
