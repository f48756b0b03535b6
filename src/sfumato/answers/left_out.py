"""State which share of rows the limits of a release left out or changed, with intervals.

*Statements*  Rows below and above the bounds of each clipped column, rows in groups that are not
              shown, and rows beyond the limit of rows per unit.
*Together*    All statements of an answer hold together with the stated confidence: m statements get
              1 − (1 − c)/m each.
*Said*        An answer prints a statement only where 0 is excluded. `explain` tells the others as
              "at most". So the chance that an answer claims what is not there is below 1 − c.
*Proof*       docs/proofs/answer-intervals.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..exact.numbers import Number, probability
from .proportions import Share, clipped_shares, withheld_share
from .render import footnote_texts as texts
from .render.format_digits import format_share_up
from .render.tabulate import printable

if TYPE_CHECKING:
    from .answer import Answer

WORTH_SAYING = 0.001
"""The least share that an answer prints below its numbers."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A share of rows, and the sentences that state it: as an estimate, and as a bound."""

    share: Share
    estimate: str
    bound: str

    @property
    def is_said(self) -> bool:
        """Whether the share is above 0 for sure, and worth a word."""
        return self.share.low > 0 and self.share.value >= WORTH_SAYING

    @property
    def text(self) -> str:
        """The sentence of the estimate if 0 is excluded, else that of the bound."""
        if self.is_said:
            return self.estimate.format(share=self.share.words)
        return self.bound.format(most=format_share_up(self.share.high))


def left_out(answer: Answer, confidence: Number = 0.95) -> tuple[LeftOut, ...]:
    """Return all statements about what limits left out; they hold together."""
    level = probability(confidence, "confidence", zero=False)
    count = 2 * len(clipped_shares(answer)) + (withheld_share(answer) is not None)
    separate_level = 1 - (1 - level) / max(1, count)
    statements = []
    for name, shares in clipped_shares(answer, separate_level).items():
        for share, side in zip(shares, (texts.BELOW, texts.ABOVE), strict=True):
            named = {"side": side, "name": _escaped(name)}
            estimate = texts.CLIPPED.format(share="{share}", **named)
            bound = texts.CLIPPED_AT_MOST.format(most="{most}", **named)
            statements.append(LeftOut(share, estimate, bound))
    withheld = withheld_share(answer, separate_level)
    if withheld is not None:
        estimate = texts.ALL_WITHHELD if withheld.low == 1 else texts.WITHHELD
        statements.append(LeftOut(withheld, estimate, texts.WITHHELD_AT_MOST))
    return tuple(statements)


def left_out_notes(answer: Answer) -> list[str]:
    """Return the sentences that an answer prints: those in which 0 is excluded. What learned limits
    leave out was estimated when they were learned.
    """
    return [
        *learned_notes(answer),
        *(statement.text for statement in left_out(answer) if statement.is_said),
    ]


def learned_notes(answer: Answer) -> list[str]:
    """Return what the learned limits leave out, as the release recorded it."""
    return _recorded(answer, "left_out")


def unmeasured_notes(answer: Answer) -> list[str]:
    """Return the limits of which nobody measured what they leave out."""
    return _recorded(answer, "unmeasured")


def _recorded(answer: Answer, fact: str) -> list[str]:
    return [printable(str(note)) for note in answer.facts.get(fact) or ()]


def _escaped(name: str) -> str:
    """Escape a column's name, as text of a template."""
    return printable(name).replace("{", "{{").replace("}", "}}")
