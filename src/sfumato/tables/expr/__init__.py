"""Expressions over the columns of one row: types, constants, functions, and their engine form."""
