"""Tables of the same rows by different keys: which of them to measure, and how they agree."""
