"""Secure random bits: the only source of randomness of every sampler.

Small requests read from the operating system. Large requests use an AES-256-CTR stream whose key is
read from the operating system in the same call and forgotten at its end. No generator state
survives a call, so a fork, pickle or snapshot copies none.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

Words = NDArray[np.uint64]

CHUNK = 1 << 14
"""Words that samplers request at a time: 128 KiB, so that a chunk stays in the cache."""

_SMALL = 256  # words; below it one read from the system is faster than setting up a cipher
_ZEROS = bytes(8 * CHUNK)


class Bits(Protocol):
    """A source of independent fair bits."""

    def words(self, count: int) -> Words:
        """Return `count` independent uniform 64-bit words, in a fresh writable array."""

    def integer(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits)."""


class SystemBits:
    """Bits of the operating system, stretched by a cipher that lives for one call."""

    __slots__ = ()

    def words(self, count: int) -> Words:
        if count <= _SMALL:
            return np.frombuffer(bytearray(os.urandom(8 * count)), dtype=np.uint64)
        stream = Cipher(algorithms.AES256(os.urandom(32)), modes.CTR(bytes(16))).encryptor()
        # the cipher needs room for one block more than it writes
        words = np.empty(count + 2, dtype=np.uint64)
        room = words.data.cast("B")
        size, done = 8 * count, 0
        while done < size:
            step = min(len(_ZEROS), size - done)
            stream.update_into(memoryview(_ZEROS)[:step], room[done:])
            done += step
        return words[:count]

    def integer(self, bits: int) -> int:
        size = (bits + 7) // 8
        return int.from_bytes(os.urandom(size)) >> (8 * size - bits)


SYSTEM = SystemBits()
