"""The local model: whoever is asked perturbs the answer before it leaves the hand. One interface
for all oracles.

*Interface*  `perturb(values)` gives reports, `aggregate(reports)` whole numbers that add up,
             `estimate(reports)` unbiased frequencies with intervals; `promise` is what every report
             keeps, `variance(n)` the exact error. `question` is all that a client needs to know,
             and is public.
*Promise*    ε-DP of one report, whatever all others are: P(report | x) ≤ e^ε·P(report | x′) for
             every report and every two values. `odds` is the largest such ratio, an exact rational;
             that it is at most e^ε is proved when an oracle is made. A second report of the same
             person, with fresh coins, adds its own ε; reports that `Rappor` makes of one memory do
             not compose like that. `Panel` limits how often a person reports.
*Any value*  Whether a report is sent must not depend on the value, so every value is answered, by
             the rules of the client: what is none of the categories becomes one of them, drawn
             uniformly; what is no number, NaN too, is the lower end, and what lies beyond the ends
             is the nearer end; letters that an alphabet lacks are left out. A mean of laws is
             nowhere above the largest of them, nor below the least: no ratio grows.
*Relation*   A report exists only if its sender does, so the promise is about replacing a value.
             Add-remove, under which the number of reports would be secret, is refused.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..guarantees import Guarantee, Pure, Relation
from ..mechanisms.shared.categories import Labels
from ..mechanisms.shared.mechanism import Mechanism
from ..noise.bits import SYSTEM, Bits
from . import client
from .frequency_estimate import Aggregate
from .lib.biased_coins import Bytes, below
from .lib.dyadic_probability import keeps
from .wire_reports import Reports, gathered

if TYPE_CHECKING:
    from ..accounting.loss.privacy_loss import Loss

MOST_REPORTS = 1 << 60


class Oracle(Mechanism):
    """What perturbs a value where it arises, and estimates from many perturbed ones. A frozen
    record of public things.
    """

    __slots__ = ()

    kind: ClassVar[str]
    epsilon: Fraction
    relation: Relation | None
    unit: str | None

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The largest ratio, over all reports and all two values, of the chances of a report:
        exact.
        """

    @property
    @abstractmethod
    def width(self) -> int:
        """Bytes of the payload of one report."""

    @abstractmethod
    def constants(self) -> dict[str, Any]:
        """What a client of this kind reads from the question: integers, and lists of categories."""

    @abstractmethod
    def made_of(self) -> dict[str, Any]:
        """Arguments that make this oracle again, as JSON can hold them."""

    @abstractmethod
    def _codes(self, values: Any, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        """Values as integers, every value: what is none of the categories as a uniform one."""

    @abstractmethod
    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        """A payload for each value: the only place where values and coins meet."""

    @abstractmethod
    def _formed(self, payload: Bytes) -> NDArray[np.bool_]:
        """Which payloads a client could have sent."""

    @abstractmethod
    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Whole numbers that add up."""

    @abstractmethod
    def estimate(self, reports: Any) -> Any:
        """What was asked, from reports, from single reports as bytes, or from an aggregate. Reports
        are public: this is processing.
        """

    @abstractmethod
    def variance(self, n: int) -> float:
        """The exact variance of the estimate from n reports."""

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(self.epsilon, relation=self.relation, unit=self.unit),)

    @property
    def question(self) -> dict[str, Any]:
        """Everything that a client needs, and that anyone may check: JSON. `sfumato.local.restore`
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
            "made": {**self.made_of(), **about},
            **self.constants(),
        }

    @property
    def mark(self) -> bytes:
        """Three bytes that every report carries, from the question."""
        return client.mark(self.question)

    def perturb(self, values: Any, *, bits: Bits = SYSTEM) -> Reports:
        """A report for each value, whatever it is."""
        return Reports(self.mark, self._draw(self._codes(values, bits).ravel(), bits))

    def read(self, reports: Reports | bytes | Iterable[bytes], *, drop: bool = False) -> Reports:
        """Reports as they came: a file of them, or single ones. What is no report to this question
        is refused, or with `drop` left out.
        """
        mark = self.mark
        bad: NDArray[Any] = np.zeros(0, dtype=np.int64)
        if isinstance(reports, bytes | bytearray):
            reports = Reports.from_bytes(bytes(reports), mark, self.width)
        elif not isinstance(reports, Reports):
            reports, bad = gathered(reports, mark, self.width)
        if (
            reports.mark != mark
            or reports.payload.ndim != 2
            or reports.payload.shape[1] != self.width
        ):
            raise Refused(
                "local.report",
                f"{reports}",
                "these reports answer another question",
                "the oracle that made them, or one restored from its question",
            )
        formed = self._formed(reports.payload)
        if not drop and (len(bad) or not formed.all()):
            first = int(bad[0]) if len(bad) else int(np.flatnonzero(~formed)[0])
            raise Refused(
                "local.report",
                f"report {first}",
                "no client of this question sends such a report",
                "read(reports, drop=True) leaves such out",
            )
        return reports if formed.all() else Reports(mark, reports.payload[formed])

    def aggregate(self, reports: Reports | Aggregate | bytes | Iterable[bytes]) -> Aggregate:
        """Whole numbers that are enough to estimate from; parts are added with +."""
        if isinstance(reports, Aggregate):
            if reports.mark != self.mark:
                raise Refused(
                    "local.report",
                    f"{reports}",
                    "these reports answered another question",
                    "the oracle that counted them",
                )
            return reports
        known = self.read(reports)
        return Aggregate(known.mark, self._tally(known.payload), len(known))

    def shuffled(self, n: int) -> Loss:
        """What one report keeps when it arrives among n honest, delivered ones in an order that
        tells nothing: certified, and composable.
        """
        from .shuffle import shuffle

        return shuffle(local=self.promise, n=n)

    def _end(self) -> None:
        """What all constructors end with: the promise, proved."""
        keeps(self.odds, self.epsilon, type(self).__name__)

    def _some(self, reports: Any) -> Aggregate:
        """An aggregate of at least one report."""
        counted = self.aggregate(reports)
        if not counted.reports:
            raise Refused(
                "response.reports",
                "estimate([])",
                "there is no report to estimate from",
                "estimate(oracle.perturb(values))",
            )
        return counted


def reports_of(n: int) -> int:
    """A number of reports."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= MOST_REPORTS:
        raise Refused("response.reports", f"n={n}", "this is a whole number from 1 on", "n=1000")
    return int(n)


def every_code(labels: Labels, values: Any, bits: Bits) -> NDArray[np.int64]:
    """The places of one value or of many among the categories; for each that is none of them a
    uniform place.
    """
    listed = (
        (values.ravel() if isinstance(values, np.ndarray) else [values])
        if labels.is_one(values)
        else values
    )
    codes = labels.codes(listed, drop=True).ravel()
    if (others := np.flatnonzero(codes < 0)).size:
        codes[others] = below(len(labels), others.size, bits)
    return codes


def plain_categories(labels: Labels) -> list[Any]:
    """The categories as JSON holds them and gives them back."""
    if not all(name is None or type(name) in (str, int, bool) for name in labels.names):
        raise Refused(
            "local.categories",
            "categories",
            "a client reads a question as JSON: texts, whole numbers and truth values",
            "categories=['yes', 'no']",
        )
    return list(labels.names)
