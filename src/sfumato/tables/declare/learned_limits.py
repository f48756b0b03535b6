"""Marks for the limits of a declaration that were learned from the data, privately and for a price,
with the share of units or rows beyond each limit.

*Free*      The noisy histogram that a limit was chosen from also estimates how much the limit cuts
            off: the share of units or rows, its range, and its error (95 %). Records of older
            versions hold less: without a range their error is wrong, and they are not shown.
*Rows*      Of the rows beyond a limit, cells of units tell a range, and no value in it: a unit in a
            cell may have its fewest rows, or its most. So both ends are said (95 %), and below an
            answer the lower one, if it is above 0.
*Trade*     A limit has the least expected error that its histogram shows. The note says so: twice
            the limit would likely add more noise than it saves. With twice a limit of groups, a
            group would need more people to be shown.
*Default*   If there were too few people to learn a limit from, the limit is a constant chosen
            beforehand, and is marked as a default.
*Keys*      A limit of groups was learned for groups by some columns: its share is about these.
*Joined*    The histogram was about one table. After a join the mark stays, without the shares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ...exact.numbers import exact, text
from . import declare_refusals as refusals

Rest = tuple[Fraction, ...]
"""(share, error, n, rows, most, least): among units with up to n rows, the share with more rows
than the limit, and its error; and the share of their rows beyond it, about, at most and at least.
Two, three or five numbers are an older record, without the least share.
"""
Tails = tuple[Fraction, ...]
"""(below, above, error, low, high): among rows between low and high, the shares below and above the
bounds, and the error of each. Three numbers are an older record.
"""

REST, TAILS = (2, 3, 5, 6), (3, 5)
"""The length of such a tuple in older records, and now."""
POSITIONS = {REST: (2,), TAILS: (3, 4)}
"""The places in such a tuple that hold no share but a number of rows, or a value."""

LIMITS = ("max_rows", "max_groups")
NO_SHARES: Rest = (Fraction(0), Fraction(0))
FAR = Fraction(2) ** 41
"""Beyond every limit that can be learned: a range up to here covers all rows or units."""

WORTH_SAYING, USELESS = Fraction(1, 200), Fraction(1, 2)
TRADES = {
    "max_rows": "; twice the limit would likely add more noise than it saves",
    "max_groups": "; with twice the limit, groups would likely need more people to be shown",
}
DEFAULT = "a default: too few people to learn it from, and what lies beyond it is unknown"


@dataclass(frozen=True, slots=True)
class LearnedLimits:
    """The limits and the columns' bounds that were learned. None beside a name means a default:
    there was too little to learn it from.
    """

    limits: tuple[tuple[str, Rest | None], ...] = ()
    bounds: tuple[tuple[str, Tails | None], ...] = ()
    keys: tuple[str, ...] = field(default=(), compare=False)
    """The columns that the limit of groups was learned for; none in a file."""

    def __bool__(self) -> bool:
        return bool(self.limits or self.bounds)

    def with_limit(self, name: str, rest: Rest | None) -> LearnedLimits:
        return replace(
            self,
            limits=tuple(
                sorted(
                    {**dict(self.limits), name: rest}.items(),
                    key=lambda pair: LIMITS.index(pair[0]),
                )
            ),
        )

    def with_bounds(self, column: str, tails: Tails | None) -> LearnedLimits:
        return replace(self, bounds=tuple(sorted({**dict(self.bounds), column: tails}.items())))

    def after_join(self, *limits: tuple[str, LearnedLimits]) -> LearnedLimits:
        """Return the marks after a join: each limit gets the marks of the tables named with it,
        without shares.
        """
        marks: dict[str, list[Rest | None]] = {}
        for name, learned in limits:
            marks.setdefault(name, []).extend(
                rest for limit, rest in learned.limits if limit == name
            )
        return replace(
            self,
            limits=tuple(
                (name, None if None in marks[name] else NO_SHARES)
                for name in LIMITS
                if marks.get(name)
            ),
        )

    def limit_note(self, name: str) -> str:
        """Return the note behind a limit: empty if the owner declared it."""
        limits = dict(self.limits)
        if name not in limits:
            return ""
        rest = limits[name]
        if rest is None:
            return f" ({DEFAULT})"
        if len(rest) == REST[0]:
            return " (learned)"
        of = (
            "of them"
            if rest[2] > FAR
            else f"of those with up to {text(rest[2])} {name.removeprefix('max_')}"
        )
        units = _shares({"have more": rest[0]}, rest[1], of, "have more")
        rows = ""
        if len(rest) >= REST[2] and rest[0] > max(rest[1], WORTH_SAYING):
            least = _least_beyond(rest)
            share = (
                f"between {percent(least)} and {percent(rest[4])}"
                if least
                else f"at most {percent(rest[4])}"
            )
            rows = f", with {share} of their {name.removeprefix('max_')} beyond the limit"
        trade = TRADES[name] if units and len(rest) >= REST[2] else ""
        return f" (learned{units}{rows}{trade})"

    def least_beyond(self, name: str) -> str:
        """Return the least share, of all rows or of all groups of units, that lies beyond a limit:
        "" unless it is worth a word. Units with more than were counted only add to it.
        """
        least = _least_beyond(dict(self.limits).get(name) or ())
        return f"at least {percent(least)}" if least >= WORTH_SAYING else ""

    def rows_outside(self, column: str) -> dict[str, str]:
        """Describe the shares of rows below and above a column's bounds that exceed their error."""
        tails = dict(self.bounds).get(column)
        if tails is None or len(tails) < TAILS[1]:
            return {}
        least = max(tails[2], WORTH_SAYING)
        sides, population = {"below": tails[0], "above": tails[1]}, _span(*tails[3:])
        return {
            side: f"about {percent(share)} ± {percent(tails[2])} {population}"
            for side, share in sides.items()
            if share > least
        }

    def bounds_note(self, column: str) -> str:
        """Return the note behind the bounds of a column: empty if the owner declared them."""
        bounds = dict(self.bounds)
        if column not in bounds:
            return ""
        tails = bounds[column]
        if tails is None:
            return f" ({DEFAULT})"
        if len(tails) < TAILS[1]:
            return " (learned)"
        sides = {"are below": tails[0], "are above": tails[1]}
        shares = _shares(sides, tails[2], _span(*tails[3:]), "are outside, on each side")
        trade = "; bounds twice as wide would likely add more noise than they save"
        return f" (learned{shares}{trade if shares else ''})"


NOT_LEARNED = LearnedLimits()
"""The owner declared every limit."""


def check_learned(
    learned: object, columns: Mapping[str, object], limits: Mapping[str, int | None]
) -> LearnedLimits:
    """Check that every mark belongs to a declared limit."""
    if learned is None:
        return NOT_LEARNED
    fits = (
        isinstance(learned, LearnedLimits)
        and all(limits.get(name) is not None for name, _ in learned.limits)
        and all(name in columns for name, _ in learned.bounds)
    )
    if not isinstance(learned, LearnedLimits) or not fits:
        raise refusals.LEARNED_WITHOUT_LIMIT()
    return learned


def shares_text(shares: tuple[Fraction, ...] | None) -> list[str]:
    """Write shares as texts, for a file."""
    return [] if shares is None else [str(float(share)) for share in shares]


def read_shares(values: object, counts: tuple[int, ...]) -> tuple[Fraction, ...] | None:
    """Read shares back from a file: REST or TAILS numbers, of which some are positions."""
    if isinstance(values, list) and not values:
        return None
    if (
        not isinstance(values, list)
        or len(values) not in counts
        or not all(isinstance(share, str) for share in values)
    ):
        raise refusals.LEARNED_NUMBERS_WRONG(count=counts[-1])
    shares = tuple(exact(share, "learned") for share in values)
    if not all(0 <= share <= 1 for i, share in enumerate(shares) if i not in POSITIONS[counts]):
        raise refusals.LEARNED_SHARE_OUT_OF_RANGE()
    return shares


def round_share(share: float) -> Fraction:
    """Round a share to three decimal places, between 0 and 1: it is not known better."""
    return min(max(Fraction(round(share * 1000), 1000), Fraction(0)), Fraction(1))


def round_share_down(share: float) -> Fraction:
    """Round a proved lower bound of a share down to three decimal places, at least 0."""
    return max(Fraction(math.floor(Fraction(share) * 1000), 1000), Fraction(0))


def round_share_up(share: float) -> Fraction:
    """Round the error of a share up to three decimal places, at most 1."""
    return min(Fraction(math.ceil(Fraction(share) * 1000), 1000), Fraction(1))


def _shares(sides: Mapping[str, Fraction], error: Fraction, population: str, outside: str) -> str:
    """Describe the shares that exceed the noise; if none does, the largest possible share, unless
    that says nothing.
    """
    significant = {
        where: share for where, share in sides.items() if share > max(error, WORTH_SAYING)
    }
    if significant:
        return "".join(
            f"; about {percent(share)} ± {percent(error)} {population} {where}"
            for where, share in significant.items()
        )
    most = min(max(sides.values()) + error, Fraction(1))
    says_something = WORTH_SAYING < most < USELESS
    return f"; at most about {percent(most)} {population} {outside}" if says_something else ""


def _least_beyond(rest: Rest) -> Fraction:
    """Return the least share of rows beyond a limit; 0 where a record does not tell it."""
    return rest[5] if len(rest) == REST[3] else Fraction(0)


def _span(low: Fraction, high: Fraction) -> str:
    """Describe the rows that a share is about."""
    if low < -FAR and high > FAR:
        return "of all rows"
    ends = (
        f"from {text(low)} on"
        if high > FAR
        else f"up to {text(high)}"
        if low < -FAR
        else f"between {text(low)} and {text(high)}"
    )
    return f"of rows {ends}"


def percent(value: Fraction) -> str:
    """Write a share as a percentage with all of its three decimal places."""
    return f"{float(100 * value):.4g} %"
