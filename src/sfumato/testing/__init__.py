"""Sources of bits for tests: repeatable, and therefore never private. Nothing in the product
imports this package.
"""

from .seeded_bits import SeededBits, TapeBits

__all__ = ["SeededBits", "TapeBits"]
