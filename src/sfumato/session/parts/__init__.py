"""Parts of a table: disjoint units, an account for each part, and the cost of one for all."""
