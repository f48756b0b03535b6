"""What the local oracles share: coins, probabilities, hash functions, projection."""
