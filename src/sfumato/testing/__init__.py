"""Repeatable bit sources for tests, which are never private. No product code imports this
package.
"""

from .seeded_bits import SeededBits, TapeBits

__all__ = ["SeededBits", "TapeBits"]
