"""Declared tables: what columns are, what may be computed from a row, and which exact integers a
question needs. The only layer that knows Ibis.
"""
