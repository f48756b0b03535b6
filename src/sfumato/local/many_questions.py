"""Questionnaire: several questions to one person, answered in one report.

*Law*        how="split": every question is answered; how="sample": one of them, drawn by lot
             whatever the answers are, and the report says which.
*Promise*    Split: the losses add, ε = Σ εᵢ, odds = the product. Sample: one answer is given, and
             which one tells nothing: ε = the largest εᵢ, odds the largest. So the same ε in total
             is ε/d for each of d questions, asked of all, or ε for each, asked of every d-th: for
             small ε the latter is better, as the error grows like √d and not like d. `variance(n)`
             says which.
*Error*      Of each question as its own oracle's; sampled, from as many reports as drew it (a
             binomial number m: E[1/m | m ≥ 1] is put in).
*Report*     The parts one behind the other; or the number of the question and its part, with zeros
             up to the length of the longest.
*Proof*      docs/proofs/local-numbers.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Literal, Unpack

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..accounting.loss.shuffle_pair import binomial
from ..exact.numbers import Number, exact
from ..guarantees import Relation
from ..guarantees.guarantee import unit_of
from ..keywords import spell_out
from ..mechanisms.randomized_response import check_reported_relation
from ..mechanisms.shared.mechanism import Input
from ..mechanisms.stated.audit_example import AuditExample, fixed
from ..noise.bits import SYSTEM, Bits
from ..records import record
from . import local_refusals as refusals
from .client import Question
from .direct import Direct
from .frequency_estimate import ReportTotals
from .lib.biased_coins import Bytes, below
from .oracle import Oracle, UnitOptions, ValueOracle, check_report_count
from .rappor import Rappor
from .wire_reports import Reports, pack_integers, unpack_integers, width_for

How = Literal["sample", "split"]
MOST_QUESTIONS = 1 << 12
Rows = NDArray[np.bool_] | slice


@record(kw_only=True, init=False)
class Questionnaire(Oracle):
    """Oracles by name, of which a person answers all, or one by lot. Values, reports and estimates
    use the same names.
    """

    kind = "several"
    names: tuple[str, ...]
    parts: tuple[ValueOracle, ...]
    how: How
    epsilon: Fraction
    relation: Relation | None = field(default=None, converter=check_reported_relation)
    unit: str | None = field(default=None, converter=unit_of)

    @spell_out(UnitOptions)
    def __init__(
        self,
        parts: Mapping[str, Oracle | Question],
        *,
        how: How = "sample",
        names: Iterable[str] | None = None,
        epsilon: Number | None = None,
        **about: Unpack[UnitOptions],
    ) -> None:
        from .restore_question import restore

        if how not in ("sample", "split"):
            raise refusals.UNKNOWN_WAY_TO_ASK(how=how)
        oracles = {
            str(name): part if isinstance(part, Oracle) else restore(part)
            for name, part in ((n, parts[n]) for n in names or parts)
        }
        if not 2 <= len(oracles) <= MOST_QUESTIONS:
            raise refusals.TOO_FEW_OR_MANY_QUESTIONS(count=len(oracles), most=MOST_QUESTIONS)
        combinable: list[ValueOracle] = []
        for name, part in oracles.items():
            if isinstance(part, Rappor) or not isinstance(part, ValueOracle):
                raise refusals.QUESTION_NOT_COMBINABLE(name=name, type=type(part).__name__)
            combinable.append(part)
        each = [part.epsilon for part in combinable]
        derived = sum(each, Fraction(0)) if how == "split" else max(each)
        if epsilon is not None and exact(epsilon, "epsilon") != derived:
            raise refusals.EPSILON_NOT_OF_QUESTIONS(epsilon=epsilon, derived=derived)
        self.__attrs_init__(
            names=tuple(oracles), parts=tuple(combinable), how=how, epsilon=derived, **about
        )

    @property
    def odds(self) -> Fraction:
        each = [part.odds for part in self.parts]
        return math.prod(each, start=Fraction(1)) if self.how == "split" else max(each)

    @property
    def length(self) -> int:
        """The bytes of the longest part."""
        return max(part.width for part in self.parts)

    @property
    def width(self) -> int:
        return (
            sum(part.width for part in self.parts)
            if self.how == "split"
            else width_for(len(self.parts)) + self.length
        )

    def constants(self) -> Question:
        return {
            "how": self.how,
            "names": list(self.names),
            "parts": {name: part.question for name, part in self._named()},
            "length": self.length,
        }

    def arguments(self) -> Question:
        return {
            "names": list(self.names),
            "parts": {name: part.question for name, part in self._named()},
            "how": self.how,
        }

    def perturb(self, values: object, *, bits: Bits = SYSTEM) -> Reports:
        """Draw a report for each person. `values` has a column for each name: a dictionary, or any
        table with columns by name.
        """
        if self.how == "split":
            return Reports(
                self.mark,
                np.concatenate(
                    [part._draw(codes, bits) for part, codes in self._columns(values, bits)], axis=1
                ),
            )
        columns = self._columns(values, bits)
        people, head = columns[0][1].size, width_for(len(self.parts))
        drawn = below(len(self.parts), people, bits)
        out = np.zeros((people, self.width), dtype=np.uint8)
        out[:, :head] = pack_integers(drawn, head)
        for number, (part, codes) in enumerate(columns):
            mine = np.flatnonzero(drawn == number)
            out[mine, head : head + part.width] = part._draw(codes[mine], bits)
        return Reports(self.mark, out)

    def aggregate(self, reports: Reports | ReportTotals | bytes | Iterable[bytes]) -> ReportTotals:
        """Refuse: each part counts its own reports, from `parts_of(reports)`."""
        raise refusals.QUESTIONNAIRE_WITHOUT_ONE_COUNT()

    def parts_of(self, reports: Reports | bytes | Iterable[bytes]) -> dict[str, Reports]:
        """Split reports into the reports to each question."""
        payload = self.read(reports).payload
        return {
            name: Reports(part.mark, payload[rows][:, place])
            for (name, part), rows, place in self._places(payload)
        }

    def estimate(self, reports: Reports | bytes | Iterable[bytes]) -> dict[str, Any]:
        """Estimate each question that has at least one report."""
        return {
            name: self[name].estimate(some)
            for name, some in self.parts_of(reports).items()
            if len(some)
        }

    def variance(self, n: int) -> dict[str, float]:  # type: ignore[override]  # one per question
        """Return the variance of each question's estimate, from n people."""
        inverse = (
            1 / check_report_count(n)
            if self.how == "split"
            else mean_inverse(check_report_count(n), 1 / len(self.parts))
        )
        return {name: variance_at(part, inverse) for name, part in self._named()}

    def __getitem__(self, name: str) -> ValueOracle:
        return self.parts[self.names.index(name)]

    def _named(self) -> list[tuple[str, ValueOracle]]:
        return list(zip(self.names, self.parts, strict=True))

    def _columns(self, values: Any, bits: Bits) -> list[tuple[ValueOracle, NDArray[np.int64]]]:
        try:
            columns = [
                (part, part._codes(values[name], bits).ravel()) for name, part in self._named()
            ]
        except (KeyError, TypeError, IndexError):
            raise refusals.ANSWER_COLUMN_MISSING() from None
        if len({codes.size for _, codes in columns}) != 1:
            raise refusals.ANSWER_COLUMNS_OF_UNEQUAL_LENGTH()
        return columns

    def _places(self, payload: Bytes) -> list[tuple[tuple[str, ValueOracle], Rows, slice]]:
        """Return for each part the rows that answer it, and the bytes of its answer."""
        if self.how == "split":
            ends = np.cumsum([0, *(part.width for part in self.parts)]).tolist()
            return [
                (named, slice(None), slice(a, b))
                for named, a, b in zip(self._named(), ends, ends[1:], strict=False)
            ]
        head = width_for(len(self.parts))
        drawn = unpack_integers(payload[:, :head])
        return [
            (named, drawn == number, slice(head, head + named[1].width))
            for number, named in enumerate(self._named())
        ]

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        formed = np.ones(len(payload), dtype=np.bool_)
        if self.how == "sample":
            head = width_for(len(self.parts))
            formed &= unpack_integers(payload[:, :head]) < len(self.parts)
        for (_, part), rows, place in self._places(payload):
            formed[rows] &= part._well_formed(payload[rows][:, place])
            if self.how == "sample":
                formed[rows] &= ~payload[rows][:, place.stop :].any(axis=1)
        return formed

    def __repr__(self) -> str:
        return (
            f"Questionnaire({', '.join(f'{name}: {part!r}' for name, part in self._named())}, "
            f"how={self.how!r})"
        )

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> Questionnaire:
            return cls(
                {
                    "one": Direct(epsilon=epsilon, categories="ab"),
                    "two": Direct(epsilon=epsilon, categories="cd"),
                }
            )

        people = fixed(
            ({"one": "a", "two": "c"}, {"one": "b", "two": "d"}),
            ({"one": "b", "two": "c"}, {"one": "b", "two": "d"}),
            ({"one": "a", "two": "c"}, {"one": "a", "two": "d"}),
            ({"one": "a", "two": "d"}, {"one": "b", "two": "d"}),
            ({"one": "b", "two": "c"}, {"one": "a", "two": "d"}),
        )
        return [AuditExample("local.Questionnaire", build, people)]

    def _repeat(self, x: Input, n: int) -> dict[str, list[Input]]:
        return {name: [x[name]] * n for name in self.names}


def mean_inverse(n: int, share: float) -> float:
    """Return E[1/m | m ≥ 1] of m ~ Bin(n, share)."""
    first, masses = binomial(n, share)
    counts = np.arange(first, first + masses.size)
    some = counts >= 1
    return float((masses[some] / counts[some]).sum() / masses[some].sum())


def variance_at(part: Oracle, inverse: float) -> float:
    """Return the variance a·x + b at x = 1/m, from its values at 1 and ½ (b: shared hashes)."""
    single = part.variance(1)
    slope = 2 * (single - part.variance(2))
    return slope * inverse + (single - slope)
