"""OpenRappor: RAPPOR for texts of which nobody has a list, or whose list is longer than a question.

*Law*        The cohort, drawn once for life, says what a report is about: with `gram` = 0 the whole
             text; else cohort c is about part c mod (length/gram + 1) of it: `gram` letters at one
             place, or last the whole text. The fingerprint of the part is a value as in `Rappor`:
             its bits are perturbed once, remembered, and perturbed again for each report.
*Promise*    The cohort is independent of the text, and given it the report is that of `Rappor`
             about a function of the text: the same ε for one report, and the same `lifetime()` for
             all reports about a text that never changes, and no bound if it changes.
*Decode*     `decode(reports, candidates)`: by `sparse_decoder`, with many more candidates than
             bits. `discover(reports, alphabet)`: first the letters of each place, then every text
             that they join to (Fanti, Pihur & Erlingsson 2015 compare pairs of letters as well).
*Report*     The cohort, and `size` bits.
*Proof*      docs/proofs/local-rappor.md
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Unpack, cast

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ...exact.numbers import Number, is_whole, text
from ...guarantees import Relation
from ...guarantees.guarantee import unit_of
from ...keywords import spell_out
from ...mechanisms.randomized_response import check_reported_relation
from ...mechanisms.stated.audit_example import AuditExample, fixed
from ...noise.bits import SYSTEM, Bits
from ...records import record
from .. import client
from .. import local_refusals as refusals
from ..client import END, Question
from ..decoding.sparse_decoder import SparseEstimate, decode
from ..lib.biased_coins import Bytes, below
from ..lib.dyadic_probability import as_fraction
from ..oracle import CountedOracle, Sent, check_report_count
from ..rappor import Rappor, RapporOptions, Remembered
from ..wire_reports import Reports
from .remembered_bits import RememberedBits

MOST_CANDIDATES = 1 << 20


class TextOptions(RapporOptions, total=False):
    """The Bloom filter of a question about texts, and the letters that reports are about."""

    length: int
    gram: int


@record(kw_only=True, init=False)
class OpenRappor(RememberedBits, CountedOracle):
    """Permanent and instantaneous randomized response on the Bloom filter of any text."""

    kind = "rappor-text"
    hashes: int
    size: int
    cohorts: int
    seed: str
    keep: int
    p: int
    q: int
    length: int
    gram: int
    epsilon: Fraction
    relation: Relation | None = field(default=None, converter=check_reported_relation)
    unit: str | None = field(default=None, converter=unit_of)

    @spell_out(TextOptions, hashes=2, size=16, cohorts=64, seed="sfumato", length=0, gram=0)
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        f: Number | None = None,
        p: Number = 0,
        q: Number = 1,
        **options: Unpack[TextOptions],
    ) -> None:
        """Give either ε for all reports of a person together, or f. With `gram`, reports are about
        so many letters at each place of the first `length` ones, too, for `discover`.
        """
        length, gram = options.pop("length", 0), options.pop("gram", 0)
        filters = cast("RapporOptions", {"hashes": 2, "size": 16, "cohorts": 64, **options})
        bits = Rappor(categories=["", "a"], epsilon=epsilon, f=f, p=p, q=q, **filters)
        fits = is_whole(length, 0, 64) and is_whole(gram, 0, 8) and (gram > 0) == (length > 0)
        if (
            not bits.hashes
            or not fits
            or (gram and (length % gram or length // gram >= bits.cohorts))
        ):
            raise refusals.GRAMS_OUT_OF_RANGE(length=length, gram=gram)
        self.__attrs_init__(
            **{
                name: getattr(bits, name)
                for name in ("hashes", "size", "cohorts", "seed", "keep", "p", "q", "epsilon")
            },
            length=length,
            gram=gram,
            relation=bits.relation,
            unit=bits.unit,
        )

    @property
    def parts(self) -> int:
        """The number of places at which a report may be about some letters."""
        return self.length // self.gram if self.gram else 0

    def constants(self) -> Question:
        return {**self._bits_in_question(), "length": self.length, "gram": self.gram}

    def arguments(self) -> Question:
        shape = {"size": self.size, "seed": self.seed, "length": self.length, "gram": self.gram}
        return {**self._bits_as_arguments(), **shape}

    def remember(self, values: Iterable[object], *, bits: Bits = SYSTEM) -> Remembered:
        """Draw what each person keeps for life: a cohort and permanent bits. Secret."""
        texts = [client.plain_text(value) for value in values]
        cohort = below(self.cohorts, len(texts), bits)
        levels = (cohort % (self.parts + 1)).tolist()
        pairs = list(zip(texts, levels, strict=True))
        code_of = {pair: self._code(*pair) for pair in set(pairs)}
        codes = np.array([code_of[pair] for pair in pairs], dtype=np.int64)
        return Remembered(self, cohort, self._permanent(codes, cohort, bits))

    def _code(self, value: str, level: int) -> int:
        return client.text_code(self._shape(), value, level)

    def _shape(self) -> Question:
        return {"seed": self.seed, "length": self.length, "gram": self.gram}

    def perturb(self, values: Iterable[object], *, bits: Bits = SYSTEM) -> Reports:
        """Draw a first report for each text, whatever it is."""
        return self.remember(values, bits=bits).perturb(bits=bits)

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        return self._count_by_cohort(payload)

    def decode(
        self, reports: Sent, candidates: Iterable[str], *, fdr: Number = 0.05
    ) -> SparseEstimate:
        """Find the candidates that the reports show. Of the texts found, a share of `fdr` is
        expected to be false.
        """
        counted = self._aggregate_some(reports)
        texts = list(dict.fromkeys(map(client.plain_text, candidates)))
        return self._decode(counted.counts, texts, self.parts, fdr)

    def discover(self, reports: Sent, alphabet: str, *, fdr: Number = 0.05) -> SparseEstimate:
        """Find texts over an alphabet that nobody listed, of at most `length` letters."""
        counted = self._aggregate_some(reports)
        letters = (*unicodedata.normalize("NFC", alphabet), END)
        if not self.gram or len(letters) ** self.gram > MOST_CANDIDATES:
            raise refusals.NOTHING_TO_DISCOVER(letters=len(letters) - 1, gram=self.gram)
        grams = [
            gram
            for gram in map("".join, product(letters, repeat=self.gram))
            if END not in gram.rstrip(END)
        ]
        prefixes = [""]
        for place in range(self.parts):
            there = self._decode(counted.counts, grams, place, fdr).categories
            prefixes = [
                prefix + str(gram)
                for prefix in prefixes
                for gram in there
                if not prefix.endswith(END) or not str(gram).rstrip(END)
            ]
            if len(prefixes) > MOST_CANDIDATES:
                raise refusals.TOO_MANY_TEXTS(most=MOST_CANDIDATES)
        texts = list(dict.fromkeys(prefix.rstrip(END) for prefix in prefixes))
        return self._decode(counted.counts, texts or [""], self.parts, fdr)

    def _decode(
        self, counts: NDArray[np.int64], labels: list[str], level: int, fdr: Number
    ) -> SparseEstimate:
        """Decode the cohorts that are about one part of the texts."""
        if not 1 <= len(labels) <= MOST_CANDIDATES:
            raise refusals.CANDIDATES_OUT_OF_RANGE(count=len(labels), most=MOST_CANDIDATES)
        is_gram = level < self.parts
        filled = ("\0" * level * self.gram + label if is_gram else label for label in labels)
        codes = [self._code(value, level) for value in filled]
        cohorts = np.arange(level, self.cohorts, self.parts + 1)
        return decode(self, self, counts, cohorts, (labels, np.array(codes, dtype=np.int64)), fdr)

    def estimate(self, reports: object) -> SparseEstimate:
        """Refuse: an estimate needs candidates, or an alphabet."""
        raise refusals.CANDIDATES_MISSING()

    def variance(self, n: int) -> float:
        """Return the variance of the frequency of a text near 0, from n people whose other texts
        spread evenly over the bits.
        """
        p, q = float(self.true_support), float(self.false_support)
        even = 1 - (1 - 1 / self.size) ** self.hashes
        bit = q + (p - q) * even
        bits_seen = self.size * even * (1 - even) * check_report_count(n) / (self.parts + 1)
        return bit * (1 - bit) / (p - q) ** 2 / bits_seen

    def __repr__(self) -> str:
        return (
            f"OpenRappor(f={text(2 * (1 - as_fraction(self.keep)))}, size={self.size}, "
            f"hashes={self.hashes}, cohorts={self.cohorts}, gram={self.gram})"
        )

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> OpenRappor:
            return cls(epsilon=epsilon, size=4, cohorts=2)

        texts = fixed(("a", "b"), ("é", "a"), ("", "b"), ("ab", "ba"), ("b", "日"))
        return [AuditExample("local.OpenRappor", build, texts)]
