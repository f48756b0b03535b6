"""Panel: ask the same people again in each of a fixed number of waves, with one ε for all their
changing values.

*Law*        A wave is a public period, such as a month. A lot, drawn once per person whatever the
             values are, picks `reports` of the `waves`. In each picked wave the person sends one
             report of the oracle about the value at that moment; in the others, nothing. The client
             remembers a report: asked again in the same wave, the person sends the same bytes, even
             if the value has changed.
*Promise*    All reports of one person together keep reports·ε, between any two histories of values:
             how often a value changes, when, and whether it returns is protected like the value
             itself. odds = (odds of the oracle)^reports.
*Error*      Of each wave as the oracle's own, from as many reports as were drawn for it (a binomial
             number m of mean n·reports/waves: E[1/m | m ≥ 1] is put in). For one ε in total, one
             report of ε is better than many of ε/reports, but for large ε: the variance grows like
             waves, and not like waves².
*Memory*     The memory holds the lot and the reports that were sent, which are no secret. A person
             who loses it counts as a new person: the ε of both add up.
*Report*     The number of the wave, and the oracle's report.
*Proof*      docs/proofs/local-panel.md
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import is_whole
from ..guarantees import Relation
from ..guarantees.guarantee import unit_of
from ..keywords import spell_out
from ..mechanisms.randomized_response import check_reported_relation
from ..mechanisms.stated.audit_example import AuditExample, fixed
from ..noise.bits import SYSTEM, Bits
from ..records import record
from . import local_refusals as refusals
from .client import Question
from .direct import Direct
from .frequency_estimate import ReportTotals
from .lib.biased_coins import Bytes, below
from .many_questions import mean_inverse, variance_at
from .oracle import Oracle, UnitOptions, ValueOracle, check_report_count
from .rappor import Rappor
from .wire_reports import Reports, pack_integers, unpack_integers, width_for

MOST_WAVES = 1 << 12


@record(kw_only=True, init=False)
class Panel(Oracle):
    """An oracle asked again in each wave, with a limit on the reports per person. Estimates are
    keyed by the number of the wave, from 0 on.
    """

    kind = "panel"
    oracle: ValueOracle
    waves: int
    reports: int
    epsilon: Fraction
    relation: Relation | None
    unit: str | None

    @spell_out(UnitOptions)
    def __init__(
        self,
        oracle: Oracle | Question,
        *,
        waves: int,
        reports: int = 1,
        **about: Unpack[UnitOptions],
    ) -> None:
        from .restore_question import restore

        part = oracle if isinstance(oracle, Oracle) else restore(oracle)
        if isinstance(part, Rappor) or not isinstance(part, ValueOracle):
            raise refusals.QUESTION_NOT_REPEATABLE(type=type(part).__name__)
        if not is_whole(waves, 2, MOST_WAVES) or not is_whole(reports, 1, int(waves)):
            raise refusals.WAVES_OUT_OF_RANGE(waves=waves, reports=reports, most=MOST_WAVES)
        self.__attrs_init__(
            oracle=part,
            waves=int(waves),
            reports=int(reports),
            epsilon=int(reports) * part.epsilon,
            relation=check_reported_relation(about.get("relation")) or part.relation,
            unit=unit_of(about.get("unit")) or part.unit,
        )

    @property
    def odds(self) -> Fraction:
        """The largest ratio of the probabilities of all reports of one person, under two histories
        of values.
        """
        return self.oracle.odds**self.reports

    @property
    def width(self) -> int:
        return width_for(self.waves) + self.oracle.width

    def constants(self) -> Question:
        return {"waves": self.waves, "reports": self.reports, "part": self.oracle.question}

    def arguments(self) -> Question:
        return {"oracle": self.oracle.question, "waves": self.waves, "reports": self.reports}

    def perturb(self, values: object, *, bits: Bits = SYSTEM) -> Reports:
        """Draw all reports, person by person. `values` has a row for each person and a column for
        each wave.
        """
        table = (
            values if isinstance(values, np.ndarray) else np.array(_listed(values), dtype=object)
        )
        if table.ndim != 2 or table.shape[1] != self.waves:
            raise refusals.WAVE_COLUMNS_MISSING(waves=self.waves)
        drawn = self._lot(len(table), bits)
        person = np.repeat(np.arange(len(table)), self.reports)
        each = self.oracle._draw(
            self.oracle._codes(table[person, drawn.ravel()], bits).ravel(), bits
        )
        return Reports(
            self.mark,
            np.concatenate([pack_integers(drawn.ravel(), width_for(self.waves)), each], axis=1),
        )

    def aggregate(self, reports: Reports | ReportTotals | bytes | Iterable[bytes]) -> ReportTotals:
        """Refuse: each wave is counted by itself, with `waves_of(reports)`."""
        raise refusals.PANEL_WITHOUT_ONE_COUNT()

    def waves_of(self, reports: Reports | bytes | Iterable[bytes]) -> dict[int, Reports]:
        """Split reports by wave, as reports to the oracle."""
        payload, head = self.read(reports).payload, width_for(self.waves)
        wave = unpack_integers(payload[:, :head])
        return {
            number: Reports(self.oracle.mark, payload[wave == number][:, head:])
            for number in range(self.waves)
        }

    def estimate(self, reports: Reports | bytes | Iterable[bytes]) -> dict[int, Any]:
        """Estimate each wave that has a report, keyed by its number."""
        return {
            wave: self.oracle.estimate(some)
            for wave, some in self.waves_of(reports).items()
            if len(some)
        }

    def variance(self, n: int) -> float:
        """Return the variance of one wave's estimate, from n people present in every wave."""
        return variance_at(
            self.oracle, mean_inverse(check_report_count(n), self.reports / self.waves)
        )

    def _lot(self, people: int, bits: Bits) -> NDArray[np.int64]:
        """Draw a uniform set of waves for each person, in rising order."""
        order = np.tile(np.arange(self.waves), (people, 1))
        rows = np.arange(people)
        for i in range(self.reports if self.reports < self.waves else 0):
            j = i + below(self.waves - i, people, bits)
            order[rows, i], order[rows, j] = order[rows, j], order[rows, i].copy()
        return np.sort(order[:, : self.reports], axis=1)

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        head = width_for(self.waves)
        return np.asarray(
            (unpack_integers(payload[:, :head]) < self.waves)
            & self.oracle._well_formed(payload[:, head:])
        )

    def __repr__(self) -> str:
        return f"Panel({self.oracle!r}, waves={self.waves}, reports={self.reports})"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> Panel:
            each = Direct(epsilon=Fraction(epsilon) / 2, categories="abc")
            return cls(each, waves=3, reports=2)

        histories = fixed(
            (("a", "a", "a"), ("b", "b", "b")),
            (("a", "a", "b"), ("a", "b", "b")),  # another moment of change
            (("a", "b", "a"), ("a", "b", "c")),  # a return
            (("c", "c", "c"), ("a", "b", "a")),
            (("none of them", "a", "b"), ("b", "none of them", "c")),
        )
        return [AuditExample("local.Panel", build, histories)]


def _listed(values: object) -> object:
    """Return the rows of a frame as an array, anything else unchanged."""
    return np.asarray(values, dtype=object) if hasattr(values, "__array__") else values
