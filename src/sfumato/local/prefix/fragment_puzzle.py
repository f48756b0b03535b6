"""FragmentPuzzle: find frequent texts that nobody listed, in any script, byte by byte. Apple's
sequence fragment puzzle.

*Law*        A text becomes its UTF-8 form (NFC), cut at a whole character to `length` bytes and
             filled with end signs. A place is drawn uniformly among `length` + 1, whatever the text
             is. At a place the report is about the byte there, together with a mark of the text (8
             bits of its fingerprint); behind the last place it is about the whole fingerprint. The
             report is that of `Hashing` (Apple 2017 had a sketch in its place).
*Promise*    The place and the function are independent of the text, and everyone reports once:
             odds = t(g − 1)/(1 − t) ≤ e^ε, once. A person asked again pays again.
*Search*     `solve_puzzle`: frequent pairs (mark, byte) of each place; pieces of one mark are
             joined to texts, and every text is looked up in the reports about whole texts.
*Represents* Every text of at most `length` bytes in UTF-8: naïve has six, 日本 six, an emoji four
             or more. Not: the end sign U+0000 and lone surrogates, which are dropped, and what lies
             behind `length` bytes. Texts that differ in normal form only are one text.
*Error*      As that of `Hashing` from 1/(length + 1) of the reports.
*Proof*      docs/proofs/local-fragments.md
"""

from __future__ import annotations

from fractions import Fraction
from typing import Unpack

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ...exact.numbers import Number, is_whole, positive, text
from ...guarantees import Relation
from ...guarantees.guarantee import unit_of
from ...keywords import spell_out
from ...mechanisms.randomized_response import check_reported_relation
from ...mechanisms.stated.audit_example import AuditExample, fixed
from ...records import record
from .. import client
from .. import local_refusals as refusals
from ..client import END, Question
from ..lib.biased_coins import Bytes
from ..oracle import UnitOptions
from .prefix_search import Hitters
from .solve_puzzle import solve
from .text_oracle import TextOracle, choose_hashing


@record(kw_only=True, init=False)
class FragmentPuzzle(TextOracle):
    """An oracle for the frequent texts of any script."""

    kind = "fragments"
    length: int
    most: int
    seed: str
    buckets: int
    keep: int  # of 2^64
    epsilon: Fraction
    relation: Relation | None = field(default=None, converter=check_reported_relation)
    unit: str | None = field(default=None, converter=unit_of)

    @spell_out(UnitOptions)
    def __init__(
        self,
        *,
        epsilon: Number,
        length: int = 12,
        most: int = 64,
        seed: str = "sfumato",
        **about: Unpack[UnitOptions],
    ) -> None:
        if not is_whole(length, 1, 64) or not is_whole(most, 1, 1 << 12):
            raise refusals.PUZZLE_TOO_LARGE(length=length, most=most)
        exact_epsilon = positive(epsilon, "epsilon")
        buckets, keep = choose_hashing(exact_epsilon)
        self.__attrs_init__(
            length=length,
            most=most,
            seed=str(seed),
            buckets=buckets,
            keep=keep,
            epsilon=exact_epsilon,
            **about,
        )

    @property
    def levels(self) -> int:
        return self.length + 1

    @property
    def texts_note(self) -> str:
        return f"devices cut texts after {self.length} bytes of UTF-8, at a whole character"

    def constants(self) -> Question:
        return {
            "levels": self.length,
            "seed": self.seed,
            "own": str(self.keep),
            "buckets": self.buckets,
        }

    def arguments(self) -> Question:
        return {
            "epsilon": str(self.epsilon),
            "length": self.length,
            "most": self.most,
            "seed": self.seed,
        }

    def _fill(self, value: object) -> str:
        return client.fill_bytes({"levels": self.length}, value)

    def _read(self, filled: str) -> str:
        return filled.rstrip(END).encode("latin-1").decode("utf-8")

    def _code(self, value: str, level: int) -> int:
        return client.fragment({"seed": self.seed}, value, level)

    def _search(self, payload: Bytes, confidence: Number) -> Hitters:
        return solve(self, payload, confidence)

    def __repr__(self) -> str:
        return (
            f"FragmentPuzzle(epsilon={text(self.epsilon)}, length={self.length}, most={self.most})"
        )

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> FragmentPuzzle:
            return cls(epsilon=epsilon, length=2)

        texts = fixed(("aa", "bb"), ("é", "ab"), ("", "ab"), ("ab", "ba"), ("日", "aa"))
        return [AuditExample("local.FragmentPuzzle", build, texts)]

    def supports(self, payload: Bytes) -> NDArray[np.int64] | None:
        """Look up each fragment of a few texts."""
        from ..lib.hash_families import own_hash, to_bucket

        level, a, b, bucket = self.split(payload)
        columns = [level]
        for value in map(self._fill, ("aa", "bb", "ab", "")):
            codes = np.array([self._code(value, place) for place in range(self.levels)])[level]
            columns.append(to_bucket(own_hash(a, b, codes), self.buckets) == bucket)
        return np.stack(columns, axis=1).astype(np.int64)
