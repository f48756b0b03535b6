"""Read GROUP BY: keys, groupings by several of them, and buckets of time."""
