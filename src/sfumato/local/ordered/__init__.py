"""The distribution over ordered buckets in the local model."""
