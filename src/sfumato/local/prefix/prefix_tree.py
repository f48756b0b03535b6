"""PrefixTree: find the frequent texts among all texts over an alphabet. Heavy hitters, letter by
letter.

*Law*        Letters outside the alphabet are dropped, and a value that is no text is the empty
             text: every value is answered. Then a text is cut or filled with an end sign to
             `length` letters. How many of its first letters are used, `step`, 2·`step`, … `length`,
             is drawn by lot whatever the text is; the prefix becomes a public fingerprint below
             2^31 − 1, which is reported as in `Hashing`: a fresh hash function into g buckets, and
             the bucket, kept with t = e^ε/(e^ε + g − 1) rounded down (Bassily et al. 2017; Wang, Li
             & Jha 2018).
*Promise*    The level and the function are independent of the text, and everyone reports once,
             about one level: odds = t(g − 1)/(1 − t) ≤ e^ε, once, however many levels there are. A
             person asked again pays again.
*Search*     From the first letters on: every continuation of a surviving prefix by one level is a
             candidate; those whose unbiased frequency is above what noise alone would give to any
             of them survive, at most `most`, the best first (`prefix_search`).
*Error*      As that of `Hashing` from 1/levels of the reports. Two texts of the same fingerprint
             are one: a chance of 2^-31 for each two.
*Report*     The level, and 9 bytes or so, however long the text is.
*Proof*      docs/proofs/local-numbers.md
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
from ..lib.hash_families import own_hash, to_bucket
from ..oracle import MOST_SUPPORTED, UnitOptions
from .prefix_search import Hitters, continuations, search
from .text_oracle import TextOracle, choose_hashing

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@record(kw_only=True, init=False)
class PrefixTree(TextOracle):
    """An oracle for the frequent texts over an alphabet."""

    kind = "prefix"
    alphabet: str
    length: int
    step: int
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
        length: int,
        alphabet: str = LETTERS,
        step: int = 1,
        most: int = 32,
        seed: str = "sfumato",
        **about: Unpack[UnitOptions],
    ) -> None:
        if (
            not isinstance(alphabet, str)
            or not alphabet
            or len(set(alphabet)) != len(alphabet)
            or END in alphabet
            or not alphabet.isprintable()
        ):
            raise refusals.ALPHABET_NOT_LETTERS(alphabet=alphabet)
        are_integers = all(is_whole(value) for value in (length, step, most))
        if (
            not are_integers
            or length % step
            or length > 256
            or most > 1 << 12
            or most * (len(alphabet) + 1) ** step > 1 << 20
        ):
            raise refusals.PREFIX_TREE_TOO_LARGE(length=length, step=step, most=most)
        exact_epsilon = positive(epsilon, "epsilon")
        buckets, keep = choose_hashing(exact_epsilon)
        self.__attrs_init__(
            alphabet=alphabet,
            length=length,
            step=step,
            most=most,
            seed=str(seed),
            buckets=buckets,
            keep=keep,
            epsilon=exact_epsilon,
            **about,
        )

    @property
    def levels(self) -> int:
        return self.length // self.step

    @property
    def texts_note(self) -> str:
        letters = f"{self.alphabet[:40]}{'…' if len(self.alphabet) > 40 else ''}"
        return (
            f"devices left out letters other than {letters}, and cut texts after "
            f"{self.length} letters"
        )

    def constants(self) -> Question:
        shape = {
            "alphabet": self.alphabet,
            "levels": self.levels,
            "step": self.step,
            "seed": self.seed,
        }
        return {**shape, "own": str(self.keep), "buckets": self.buckets}

    def arguments(self) -> Question:
        numbers = {"epsilon": str(self.epsilon), "length": self.length, "alphabet": self.alphabet}
        return {**numbers, "step": self.step, "most": self.most, "seed": self.seed}

    def _fill(self, value: object) -> str:
        question = {"alphabet": self.alphabet, "levels": self.levels, "step": self.step}
        return client.fill_text(question, value)

    def _code(self, value: str, level: int) -> int:
        return self.fingerprint(value[: (level + 1) * self.step])

    def fingerprint(self, prefix: str) -> int:
        """Return the public number of a prefix."""
        return client.fingerprint({"seed": self.seed}, prefix)

    def _read(self, filled: str) -> str:
        return filled.rstrip(END)

    def _search(self, payload: Bytes, confidence: Number) -> Hitters:
        return search(self, payload, confidence)

    def __repr__(self) -> str:
        return (
            f"PrefixTree(epsilon={text(self.epsilon)}, length={self.length}, "
            f"step={self.step}, {len(self.alphabet)} letters, most={self.most})"
        )

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> PrefixTree:
            return cls(epsilon=epsilon, length=2, alphabet="ab")

        texts = fixed(("aa", "bb"), ("bb", "ab"), ("", "ab"), ("ab", "ba"), ("zz", "aa"))
        return [AuditExample("local.PrefixTree", build, texts)]

    def supports(self, payload: Bytes) -> NDArray[np.int64] | None:
        """Look up each prefix of a short text."""
        level, a, b, bucket = self.split(payload)
        columns, prefixes = [level], [""]
        for number in range(self.levels):
            prefixes = [
                prefix + more for prefix in prefixes for more in continuations(self, prefix)
            ]
            if len(prefixes) > MOST_SUPPORTED:
                return None
            for prefix in prefixes:
                code = np.full(len(a), self.fingerprint(prefix))
                columns.append(
                    (level == number) & (to_bucket(own_hash(a, b, code), self.buckets) == bucket)
                )
        return np.stack(columns, axis=1).astype(np.int64)
