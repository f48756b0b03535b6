"""What the owner declares of tables: columns, units, bounds, public keys, links."""
