"""A query and its stages: rows, joins, groups, aggregates."""
