"""Additive secret sharing of whole numbers modulo 2^64.

*Law*      All shares of a number but the last are uniform and independent; the last makes their sum
           the number. So any set of shares without one of them is uniform, whatever the number is.
*Totals*   Sums of shares are shares of the sum. A residue stands for the number next to zero.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..noise.bits import SYSTEM, Bits
from ..noise.uniform import integer_below

MODULUS = 1 << 64
WIDTH = 8


def split(number: int, holders: int, bits: Bits = SYSTEM, modulus: int = MODULUS) -> list[int]:
    """Split a number into a share for each holder."""
    shares = [integer_below(modulus, bits) for _ in range(holders - 1)]
    return [*shares, (number - sum(shares)) % modulus]


def add(shares: Iterable[int], modulus: int = MODULUS) -> int:
    """Add shares."""
    return sum(shares) % modulus


def centre(residue: int, modulus: int = MODULUS) -> int:
    """Return the number next to zero with this residue."""
    return residue - modulus if residue >= modulus // 2 else residue


def pack(residues: Iterable[int]) -> bytes:
    """Write residues as a packet, big endian."""
    return b"".join(residue.to_bytes(WIDTH, "big") for residue in residues)


def unpack(packet: bytes) -> list[int]:
    """Read the residues of a packet."""
    return [int.from_bytes(packet[i : i + WIDTH], "big") for i in range(0, len(packet), WIDTH)]
