"""Many linear queries over public cells, measured together through an optimised strategy."""
