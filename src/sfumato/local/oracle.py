"""The interface of all local oracles: each person perturbs the value before sending a report.

*Interface*  `perturb(values)` draws reports, `aggregate(reports)` counts them in integers that add
             up, `estimate(reports)` gives unbiased frequencies with intervals; `promise` is what
             every report keeps, `variance(n)` the exact error. `question` is all that a client
             needs, and is public.
*Promise*    ε-DP of one report, whatever all others are: P(report | x) ≤ e^ε·P(report | x′) for
             every report and every two values. `odds` is the largest such ratio, an exact rational;
             the constructor proves that it is at most e^ε. A second report of the same person, with
             fresh coins, adds its ε; reports that `Rappor` makes of one memory do not compose like
             that. `Panel` limits how often a person reports.
*Any value*  Whether a report is sent must not depend on the value, so every value is answered, by
             the rules of the client: a value that is none of the categories becomes a uniform one
             of them; a value that is no number, NaN too, becomes the lower end, and a number beyond
             the ends the nearer end; letters outside the alphabet are dropped. A mean of laws is
             nowhere above the largest of them, nor below the least: no ratio grows.
*Relation*   A report exists only if its sender does, so the promise is about replacing a value.
             Add-remove is refused: under it the number of reports would be secret.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from ..guarantees import Guarantee, Pure, Relation
from ..mechanisms.shared.categories import Labels
from ..mechanisms.shared.mechanism import Mechanism
from ..noise.bits import SYSTEM, Bits
from . import client
from . import local_refusals as refusals
from .client import Question
from .frequency_estimate import ReportTotals
from .lib.biased_coins import Bytes, below
from .lib.dyadic_probability import check_promise
from .wire_reports import Reports, gather_reports

if TYPE_CHECKING:
    from ..accounting.loss.privacy_loss import Loss

MOST_REPORTS = 1 << 60
Sent = Reports | ReportTotals | bytes | Iterable[bytes]
"""What clients sent: reports, single reports as bytes, a file of them, or their aggregate."""


class UnitOptions(TypedDict, total=False):
    """What the promise of a report is about: the neighbour relation and the protected unit."""

    relation: str | None
    unit: str | None


class Oracle(Mechanism):
    """Perturbs a value on the person's side, and estimates from many reports. A frozen record of
    public parameters.
    """

    __slots__ = ()

    kind: ClassVar[str]
    epsilon: Fraction
    relation: Relation | None
    unit: str | None

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The largest ratio of the probabilities of a report under two values: exact."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The bytes of one report's payload."""

    @abstractmethod
    def constants(self) -> Question:
        """Return what a client of this kind reads from the question: integers and lists."""

    @abstractmethod
    def arguments(self) -> Question:
        """Return constructor arguments that make this oracle again, for JSON."""

    @abstractmethod
    def _codes(self, values: object, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        """Encode every value as an integer; a value outside the categories as a uniform one."""

    @abstractmethod
    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        """Draw a payload for each value: the only place where values and coins meet."""

    @abstractmethod
    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        """Tell which payloads a client could have sent."""

    @abstractmethod
    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Count payloads in integers that add up."""

    @abstractmethod
    def estimate(self, reports: Any) -> Any:
        """Estimate from reports, from single reports as bytes, or from an aggregate. Reports are
        public: this is post-processing.
        """

    @abstractmethod
    def variance(self, n: int) -> float:
        """Return the exact variance of the estimate from n reports."""

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(self.epsilon, relation=self.relation, unit=self.unit),)

    @property
    def question(self) -> Question:
        """Everything that a client needs and anyone may check, for JSON. `sfumato.local.restore`
        makes the oracle again.
        """
        about = {
            name: value
            for name, value in (("relation", self.relation), ("unit", self.unit))
            if value is not None
        }
        head = {"sfumato": "local", "version": client.VERSION, "kind": self.kind}
        return {
            **head,
            "epsilon": str(self.epsilon),
            "made": {**self.arguments(), **about},
            **self.constants(),
        }

    @property
    def mark(self) -> bytes:
        """Three bytes of the question's hash, carried by every report."""
        return client.mark(self.question)

    def perturb(self, values: object, *, bits: Bits = SYSTEM) -> Reports:
        """Draw a report for each value, whatever it is."""
        return Reports(self.mark, self._draw(self._codes(values, bits).ravel(), bits))

    def read(self, reports: Reports | bytes | Iterable[bytes], *, drop: bool = False) -> Reports:
        """Check reports from a file or single reports. Bytes that are no report to this question
        are refused, or dropped with `drop`.
        """
        mark = self.mark
        bad = np.zeros(0, dtype=np.int64)
        if isinstance(reports, bytes | bytearray):
            reports = Reports.from_bytes(bytes(reports), mark, self.width)
        elif not isinstance(reports, Reports):
            reports, bad = gather_reports(reports, mark, self.width)
        if (
            reports.mark != mark
            or reports.payload.ndim != 2
            or reports.payload.shape[1] != self.width
        ):
            raise refusals.REPORTS_TO_OTHER_QUESTION(reports=reports)
        formed = self._well_formed(reports.payload)
        if not drop and (len(bad) or not formed.all()):
            first = int(bad[0]) if len(bad) else int(np.flatnonzero(~formed)[0])
            raise refusals.NOT_A_REPORT(number=first)
        return reports if formed.all() else Reports(mark, reports.payload[formed])

    def aggregate(self, reports: Reports | ReportTotals | bytes | Iterable[bytes]) -> ReportTotals:
        """Count reports in integers that suffice for the estimate; aggregates are added with +."""
        if isinstance(reports, ReportTotals):
            if reports.mark != self.mark:
                raise refusals.REPORTS_TO_OTHER_QUESTION(reports=reports)
            return reports
        checked = self.read(reports)
        return ReportTotals(checked.mark, self._tally(checked.payload), len(checked))

    def shuffled(self, n: int) -> Loss:
        """Return the certified, composable loss of one report among n honest, delivered and
        shuffled reports.
        """
        from .shuffle import shuffle

        return shuffle(local=self.promise, n=n)

    def __attrs_post_init__(self) -> None:
        """Prove the promise."""
        check_promise(self.odds, self.epsilon, type(self).__name__)

    def _aggregate_some(self, reports: Sent) -> ReportTotals:
        """Aggregate reports; refuse if there is none."""
        counted = self.aggregate(reports)
        if not counted.reports:
            raise refusals.NO_REPORTS()
        return counted


def check_report_count(n: int) -> int:
    """Check a number of reports."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= MOST_REPORTS:
        raise refusals.REPORT_COUNT_BELOW_ONE(n=n)
    return int(n)


def every_code(labels: Labels, values: object, bits: Bits) -> NDArray[np.int64]:
    """Return the places of one value or of many among the categories; a uniform place for each
    value that is none of them.
    """
    listed = (
        (values.ravel() if isinstance(values, np.ndarray) else [values])
        if labels.is_single_value(values)
        else values
    )
    codes = labels.codes(cast("Iterable[object]", listed), drop=True).ravel()
    if (unlisted := np.flatnonzero(codes < 0)).size:
        codes[unlisted] = below(len(labels), unlisted.size, bits)
    return codes


def plain_categories(labels: Labels) -> list[Hashable]:
    """Return the categories for JSON; refuse types that JSON does not give back."""
    if not all(name is None or type(name) in (str, int, bool) for name in labels.names):
        raise refusals.CATEGORIES_NOT_JSON()
    return list(labels.names)
