"""RAPPOR for texts, and what its oracles share: bits that a person remembers."""
