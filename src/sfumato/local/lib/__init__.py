"""Shared parts of the local oracles: coins, probabilities, hash functions, projection."""
