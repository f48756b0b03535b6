"""A local oracle for the distribution over ordered buckets."""
