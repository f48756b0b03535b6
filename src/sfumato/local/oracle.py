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

import math
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, positive, probability
from ..guarantees import Guarantee, Pure, Relation
from ..mechanisms.shared.categories import Labels, is_same
from ..mechanisms.shared.mechanism import Input, InputPair, Mechanism, Output, PublicFields
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
MOST_NEEDED = 1 << 40
"""The most reports among which `reports_needed` searches."""
MOST_BITS = 96
"""A longer report is written for audits byte by byte, not bit by bit."""
MOST_SUPPORTED = 32
"""For more values an audit does not look up whether a report supports them."""
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
    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        """Tell which payloads a client could have sent."""

    @abstractmethod
    def perturb(self, values: Any, *, bits: Bits = SYSTEM) -> Reports:
        """Draw reports, whatever the values are."""

    @abstractmethod
    def aggregate(self, reports: Sent) -> ReportTotals:
        """Count reports in integers that suffice for the estimate; aggregates are added with +."""

    @abstractmethod
    def estimate(self, reports: Any) -> Any:
        """Estimate from reports, from single reports as bytes, or from an aggregate. Reports are
        public: this is post-processing.
        """

    @abstractmethod
    def variance(self, n: int) -> float:
        """Return the exact variance of the estimate from n reports."""

    def reports_needed(self, error: Number, confidence: Number = 0.95, **at: Number) -> int:
        """Return how many reports give an estimate with an error of at most ±`error`: the least n
        for which the normal interval of this confidence, ± z·√variance(n), is no wider. `at` goes
        to `variance`, such as frequency=0.1.
        """
        from scipy.special import ndtri

        target = positive(error, "error")
        missing = 1 - probability(confidence, "confidence", zero=False)
        z_squared = Fraction(math.nextafter(float(ndtri(float(missing) / 2)), -math.inf)) ** 2

        def is_enough(n: int) -> bool:
            variance: Any = cast("Any", self.variance)(n, **at)  # kinds take different `at`
            largest = max(variance.values()) if isinstance(variance, dict) else variance
            return Fraction(largest) * z_squared <= target**2

        most = 1
        while not is_enough(most):
            most *= 2
            if most > MOST_NEEDED:
                raise refusals.ERROR_OUT_OF_REACH(error=error, most=MOST_NEEDED)
        return bisect_left(range(most), True, lo=max(1, most // 2), key=is_enough)

    def count_outside(self, values: Iterable[object]) -> int:
        """Count the values that a report cannot say as they are: none of the categories, or outside
        of the ends. The count is exact: it is for the person or the owner who has the values.
        """
        return 0

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

    def shuffled(self, n: int) -> Loss:
        """Return the certified, composable loss of one report among n honest, delivered and
        shuffled reports.
        """
        from .amplification import shuffle

        return shuffle(local=self.promise, n=n)

    def __attrs_post_init__(self) -> None:
        """Prove the promise."""
        check_promise(self.odds, self.epsilon, type(self).__name__)

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """List the kinds of questions that this class asks."""
        return (cls.kind,)

    why_no_law = "the law of a report is not written out"
    why_no_loss_pair = "the pair of ε dominates every report"
    why_not_restored = "its question restores it: `restore(oracle.question)`"

    def audit_pairs(self) -> list[InputPair]:
        names = getattr(self, "categories", None)
        if names:
            return [*((names[0], name) for name in names[1:4]), (names[-1], names[0])]
        low, high = getattr(self, "low", 0), getattr(self, "high", 1)
        return [
            (float(low), float(high)),
            (float(high), float(low)),
            (float(low), float(low + high) / 2),
            (math.nan, float(high)),
            ("", "a"),
        ]

    def neighbours_of(self, x: Input) -> list[InputPair]:
        names = getattr(self, "categories", None) or ()
        return [(x, name) for name in names[:6] if not is_same(x, name)]

    def draw_once(self, x: Input) -> Output:
        return self.draw_many(x, 1)[0]

    def draw_many(self, x: Input, n: int) -> NDArray[np.integer]:
        """Draw n reports about one value (of a panel, all reports of n people with one history).

        A report of one byte becomes a number; a longer one becomes the values that it supports, and
        its bits or bytes.
        """
        payload = self.perturb(self._repeat(x, n)).payload.reshape(n, -1)
        if payload.shape[1] == 1:
            return payload[:, 0]
        supported = self.supports(payload)
        if supported is not None:
            return np.concatenate([supported, payload], axis=1)
        return np.unpackbits(payload, axis=1) if 8 * payload.shape[1] <= MOST_BITS else payload

    def supports(self, payload: Bytes) -> NDArray[np.int64] | None:
        """Tell whether each report supports each of a few values; None where the report itself
        says so. Where every report has a hash function of its own no two are alike: only what they
        support tells an audit what they say.
        """
        return None

    def _repeat(self, x: Input, n: int) -> Input:
        """Return the values of n people who have the same one."""
        return [x] * n

    @classmethod
    def arguments_of(cls, public: PublicFields) -> PublicFields:
        raise TypeError(cls.why_not_restored)


class CountedOracle(Oracle):
    """An oracle whose reports are counted together."""

    __slots__ = ()

    @abstractmethod
    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Count payloads in integers that add up."""

    def aggregate(self, reports: Sent) -> ReportTotals:
        if isinstance(reports, ReportTotals):
            if reports.mark != self.mark:
                raise refusals.REPORTS_TO_OTHER_QUESTION(reports=reports)
            return reports
        checked = self.read(reports)
        return ReportTotals(checked.mark, self._tally(checked.payload), len(checked))

    def _aggregate_some(self, reports: Sent) -> ReportTotals:
        """Aggregate reports; refuse if there is none."""
        counted = self.aggregate(reports)
        if not counted.reports:
            raise refusals.NO_REPORTS()
        return counted


class ValueOracle(CountedOracle):
    """An oracle that answers each value with one report."""

    __slots__ = ()

    @abstractmethod
    def _codes(self, values: object, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        """Encode every value as an integer; a value outside the categories as a uniform one."""

    @abstractmethod
    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        """Draw a payload for each value: the only place where values and coins meet."""

    def perturb(self, values: object, *, bits: Bits = SYSTEM) -> Reports:
        """Draw a report for each value, whatever it is.

        >>> oracle = sf.local.Direct(epsilon=1, categories=["yes", "no"])
        >>> len(oracle.perturb(["yes", "no", "no"]))
        3
        """
        return Reports(self.mark, self._draw(self._codes(values, bits).ravel(), bits))


def check_report_count(n: int) -> int:
    """Check a number of reports."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= MOST_REPORTS:
        raise refusals.REPORT_COUNT_BELOW_ONE(n=n)
    return int(n)


def count_unlisted(labels: Labels, values: Iterable[object]) -> int:
    """Count the values that are none of the categories."""
    return int((labels.codes(values, drop=True) < 0).sum())


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
