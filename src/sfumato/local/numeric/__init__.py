"""Local oracles for the mean of a number."""
