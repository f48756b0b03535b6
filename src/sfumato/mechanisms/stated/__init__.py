"""What mechanisms state about themselves for audits and accountants: examples, pairs, laws."""
