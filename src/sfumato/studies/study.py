"""What a study is: a table or figure of the sources, run again, with a verdict for every printed
number.

*Verdicts*  agrees · the number lies in the band of our repetitions, or is the exact one as printed.
            misprint · arithmetic on printed numbers, or the exact value, shows it wrong, and what
            would be right. set-up unsafe · the promise printed with the set-up is not the one it
            keeps.
            differs · outside the band with no explanation. There should be none.
No verdict is written down anywhere: each is computed here from numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from .bands import middle, share
from .printed import Interval, Printed, meet, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Verdict(StrEnum):
    """How a printed number fares."""

    AGREES = "agrees"
    MISPRINT = "misprint"
    UNSAFE = "set-up unsafe"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A printed number, ours beside it, and what follows. `ours` has the ends of the middle 90 % of
    repetitions; `band` is what the verdict is from.
    """

    cell: str
    printed: str
    ours: str
    verdict: Verdict
    printed_value: float | None = None
    value: float | None = None
    spread: Interval | None = None
    band: Interval | None = None
    errata: tuple[str, ...] = ()
    sentence: str = ""

    @classmethod
    def drawn(cls, cell: str, printed: Printed, draws: Sequence[float], band: Interval) -> Self:
        """A number that is one run of chance: it agrees where what it stands for meets the band."""
        low, centre, high = middle(draws)
        verdict = Verdict.AGREES if meet(printed.interval, band) else Verdict.DIFFERS
        return cls(
            cell=cell,
            printed=str(printed),
            ours=shown(centre),
            verdict=verdict,
            printed_value=printed.value,
            value=centre,
            spread=(low, high),
            band=band,
        )

    @classmethod
    def averaged(
        cls, cell: str, printed: str, expected: float, draws: Sequence[float], band: Interval
    ) -> Self:
        """A mean that a printed formula gives, and the mean of our repetitions, which agrees where
        it lies in the band.
        """
        low, _, high = middle(draws)
        mean = sum(draws) / len(draws)
        verdict = Verdict.AGREES if band[0] <= mean <= band[1] else Verdict.DIFFERS
        return cls(
            cell=cell,
            printed=printed,
            ours=shown(mean),
            verdict=verdict,
            printed_value=expected,
            value=mean,
            spread=(low, high),
            band=band,
        )

    @classmethod
    def frequency(cls, cell: str, probability: float, hits: int, count: int) -> Self:
        """How often something of this probability happened, which agrees where it lies in the
        band.
        """
        found, band = hits / count, share(probability, count)
        verdict = Verdict.AGREES if band[0] <= found <= band[1] else Verdict.DIFFERS
        return cls(
            cell=cell,
            printed=shown(probability),
            ours=shown(found),
            verdict=verdict,
            printed_value=probability,
            value=found,
            spread=(found, found),
            band=band,
        )

    @classmethod
    def exact(
        cls,
        cell: str,
        printed: Printed,
        value: float,
        *,
        errata: tuple[str, ...] = (),
        if_wrong: str = "",
        if_right: str = "",
    ) -> Self:
        """A number that follows from the others: it agrees where it stands for the exact one, else
        it is a misprint.
        """
        right = printed.stands_for(value)
        return cls(
            cell=cell,
            printed=str(printed),
            ours=shown(value, 5),
            verdict=Verdict.AGREES if right else Verdict.MISPRINT,
            printed_value=printed.value,
            value=value,
            errata=() if right else errata,
            sentence=if_right if right else if_wrong,
        )

    @classmethod
    def claim(
        cls,
        cell: str,
        printed: str,
        ours: str,
        *,
        holds: bool,
        errata: tuple[str, ...] = (),
        sentence: str = "",
    ) -> Self:
        """A printed formula, tried on an example that can tell: a misprint where it does not
        hold.
        """
        return cls(
            cell=cell,
            printed=printed,
            ours=ours,
            verdict=Verdict.AGREES if holds else Verdict.MISPRINT,
            errata=() if holds else errata,
            sentence=sentence,
        )

    @classmethod
    def promise(
        cls,
        cell: str,
        printed: str,
        ours: str,
        *,
        kept: bool,
        value: float,
        errata: tuple[str, ...],
        sentence: str,
    ) -> Self:
        """What is claimed to be protected, and what is: unsafe where the claim is not kept."""
        verdict = Verdict.AGREES if kept else Verdict.UNSAFE
        return cls(
            cell=cell,
            printed=printed,
            ours=ours,
            verdict=verdict,
            value=value,
            errata=() if kept else errata,
            sentence=sentence,
        )

    def misprinted(self, sentence: str, errata: tuple[str, ...]) -> Self:
        return replace(self, verdict=Verdict.MISPRINT, errata=errata, sentence=sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The right way beside the faithful run: the same measure of error for both."""

    what: str
    measure: str
    faithful: float
    right: float
    remark: str = ""

    @property
    def saved(self) -> float:
        """The part of the error that the right way saves; negative where being right costs more."""
        return 1 - self.right / self.faithful


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one study gave."""

    rows: tuple[Row, ...]
    sentence: str
    beside: tuple[Beside, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def count(self, verdict: Verdict) -> int:
        return sum(row.verdict == verdict for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One table or figure: its name, its place in the sources, the items it covers, and how to run
    it.
    """

    name: str
    title: str
    source: str
    items: tuple[str, ...]
    run: Callable[[int, int], Result]
