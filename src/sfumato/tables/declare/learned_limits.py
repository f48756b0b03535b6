"""What of a declaration was learned: found from the data once, privately, and paid for. A mark
beside each limit, with what lies beyond it.

*Free*      The noisy histogram that a limit was chosen from also tells how much it leaves out:
            about which share, of units or rows up to where, and how far that may be off (95 %).
            Records of older versions say less, and with a wrong error: of these no share is told.
*Default*   Where too few people were there to tell anything, the limit is a constant, chosen
            beforehand, and said to be one.
*Joined*    The histogram was of one table. Of rows that a join has made it tells no shares: the
            mark stays, without them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ...errors import Refused
from ...exact.numbers import exact, text

Rest = tuple[Fraction, ...]
"""Of units with up to so many rows: the share that has more than the limit, how far it may be off,
and the number. Two numbers are an older record.
"""
Tails = tuple[Fraction, ...]
"""Of rows between two ends: the share below the bounds and that above them, how far each may be
off, and the ends. Three numbers are an older record.
"""

REST, TAILS = (2, 3), (3, 5)
"""How many numbers these have: in older records, and now."""

LIMITS = ("max_rows", "max_groups")
UNTOLD: Rest = (Fraction(0), Fraction(0))
FAR = Fraction(2) ** 41
"""Beyond all limits that are learned: who is told of up to here is told of all."""

WORTH_SAYING = Fraction(1, 200)
DEFAULT = "a default: too few people to learn it from"


@dataclass(frozen=True, slots=True)
class Learned:
    """Which limits and whose bounds were learned. None beside one: there was nothing to learn it
    from, and it is a default.
    """

    limits: tuple[tuple[str, Rest | None], ...] = ()
    bounds: tuple[tuple[str, Tails | None], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.limits or self.bounds)

    def with_limit(self, name: str, rest: Rest | None) -> Learned:
        return replace(
            self,
            limits=tuple(
                sorted(
                    {**dict(self.limits), name: rest}.items(),
                    key=lambda pair: LIMITS.index(pair[0]),
                )
            ),
        )

    def with_bounds(self, column: str, tails: Tails | None) -> Learned:
        return replace(self, bounds=tuple(sorted({**dict(self.bounds), column: tails}.items())))

    def joined(self, *limits: tuple[str, Learned]) -> Learned:
        """After rows of two tables were put together: of each limit that counts now, by its name,
        whose marks it has. Nothing is known of what lies beyond.
        """
        marks: dict[str, list[Rest | None]] = {}
        for name, of in limits:
            marks.setdefault(name, []).extend(rest for limit, rest in of.limits if limit == name)
        return replace(
            self,
            limits=tuple(
                (name, None if None in marks[name] else UNTOLD)
                for name in LIMITS
                if marks.get(name)
            ),
        )

    def of_limit(self, name: str) -> str:
        """What is said behind a limit: nothing where it was declared."""
        known = dict(self.limits)
        if name not in known:
            return ""
        rest = known[name]
        if rest is None:
            return f" ({DEFAULT})"
        if len(rest) < REST[1]:
            return " (learned)"
        of = (
            "of them"
            if rest[2] > FAR
            else f"of those with up to {text(rest[2])} {name.removeprefix('max_')}"
        )
        return f" (learned{_shares({'have more': rest[0]}, rest[1], of, 'have more')})"

    def of_bounds(self, column: str) -> str:
        """What is said behind the bounds of a column."""
        known = dict(self.bounds)
        if column not in known:
            return ""
        tails = known[column]
        if tails is None:
            return f" ({DEFAULT})"
        if len(tails) < TAILS[1]:
            return " (learned)"
        return (
            f" "
            f"(learned{_shares({'are below': tails[0], 'are above': tails[1]}, tails[2], _span(*tails[3:]), 'are outside, on each side')})"
        )


NOTHING = Learned()
"""All of it was declared."""


def known_learned(
    given: object, columns: Mapping[str, Any], limits: Mapping[str, int | None]
) -> Learned:
    """A record whose marks stand beside limits that are there."""
    if given is None:
        return NOTHING
    marks = (
        isinstance(given, Learned)
        and all(limits.get(name) is not None for name, _ in given.limits)
        and all(name in columns for name, _ in given.bounds)
    )
    if not isinstance(given, Learned) or not marks:
        raise Refused(
            "table.learned",
            "learned=…",
            "only a limit that is declared can be one that was learned",
            "the record of Declaration.learned",
        )
    return given


def written(shares: tuple[Fraction, ...] | None) -> list[str]:
    """Shares as a file has them."""
    return [] if shares is None else [str(float(share)) for share in shares]


def read_shares(given: object, counts: tuple[int, int]) -> tuple[Fraction, ...] | None:
    """The same, read back; refused where it is something else. The first of these numbers are
    shares, and those of a newer record also places.
    """
    if isinstance(given, list) and not given:
        return None
    if (
        not isinstance(given, list)
        or len(given) not in counts
        or not all(isinstance(share, str) for share in given)
    ):
        raise Refused(
            "table.stored",
            "learned = …",
            f"{counts[1]} numbers in quotes, or an empty list for a default",
            "the text of to_toml()",
        )
    shares = tuple(exact(share, "learned") for share in given)
    if not all(0 <= share <= 1 for share in shares[: counts[0]]):
        raise Refused(
            "table.stored", "learned = …", "a share lies between 0 and 1", "the text of to_toml()"
        )
    return shares


def rounded(share: float) -> Fraction:
    """A share to three digits after the point, at most 1: it is not known better."""
    return min(max(Fraction(round(share * 1000), 1000), Fraction(0)), Fraction(1))


def rounded_up(share: float) -> Fraction:
    """Likewise, upward: how far a share may be off."""
    return min(Fraction(math.ceil(Fraction(share) * 1000), 1000), Fraction(1))


def _shares(sides: Mapping[str, Fraction], off: Fraction, of: str, outside: str) -> str:
    """What is told from noise, with its error; where nothing is, how much it can be at most."""
    told = {where: share for where, share in sides.items() if share > max(off, WORTH_SAYING)}
    if told:
        return "".join(
            f"; about {_percent(share)} ± {_percent(off)} {of} {where}"
            for where, share in told.items()
        )
    most = min(max(sides.values()) + off, Fraction(1))
    return f"; at most about {_percent(most)} {of} {outside}" if most > WORTH_SAYING else ""


def _span(low: Fraction, high: Fraction) -> str:
    """Of which rows something is told."""
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


def _percent(value: Fraction) -> str:
    """A share of three digits after the point, all of it: what is printed is what is known."""
    return f"{float(100 * value):.4g} %"
