"""What of a declaration was learned: found from the data once, privately, and paid for. A mark beside each limit, with what lies beyond it.

*Free*      The noisy histogram that a limit was chosen from also tells how much it leaves out: about which share, and how far that may be off (95 %).
*Default*   Where too few people were there to tell anything, the limit is a constant, chosen beforehand, and said to be one.
*Joined*    The histogram was of one table. Of rows that a join has made it tells no shares: the mark stays, without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ..errors import Refused
from ..exact.numbers import exact

Rest = tuple[Fraction, Fraction]
"""Of units: the share that has more rows, and how far it may be off."""
Tails = tuple[Fraction, Fraction, Fraction]
"""Of rows: the share below the bounds and that above them, and how far each may be off."""

LIMITS = ("max_rows", "max_groups")
UNTOLD: Rest = (Fraction(0), Fraction(0))
WORTH_SAYING = Fraction(1, 200)
DEFAULT = "a default: too few people to learn it from"


@dataclass(frozen=True, slots=True)
class Learned:
    """Which limits and whose bounds were learned. None beside one: there was nothing to learn it from, and it is a default."""

    limits: tuple[tuple[str, Rest | None], ...] = ()
    bounds: tuple[tuple[str, Tails | None], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.limits or self.bounds)

    def with_limit(self, name: str, rest: Rest | None) -> Learned:
        return replace(self, limits=tuple(sorted({**dict(self.limits), name: rest}.items(), key=lambda pair: LIMITS.index(pair[0]))))

    def with_bounds(self, column: str, tails: Tails | None) -> Learned:
        return replace(self, bounds=tuple(sorted({**dict(self.bounds), column: tails}.items())))

    def joined(self, *limits: tuple[str, Learned]) -> Learned:
        """After rows of two tables were put together: of each limit that counts now, by its name, whose marks it has. Nothing is known of what lies beyond."""
        marks: dict[str, list[Rest | None]] = {}
        for name, of in limits:
            marks.setdefault(name, []).extend(rest for limit, rest in of.limits if limit == name)
        return replace(self, limits=tuple((name, None if None in marks[name] else UNTOLD) for name in LIMITS if marks.get(name)))

    def of_limit(self, name: str) -> str:
        """What is said behind a limit: nothing where it was declared."""
        known = dict(self.limits)
        if name not in known:
            return ""
        rest = known[name]
        return f" ({DEFAULT})" if rest is None else f" (learned{_shares({'have more': rest[0]}, rest[1], 'of them', 'have more')})"

    def of_bounds(self, column: str) -> str:
        """What is said behind the bounds of a column."""
        known = dict(self.bounds)
        if column not in known:
            return ""
        tails = known[column]
        if tails is None:
            return f" ({DEFAULT})"
        return f" (learned{_shares({'below': tails[0], 'above': tails[1]}, tails[2], 'of all rows', 'outside')})"


NOTHING = Learned()
"""All of it was declared."""


def known_learned(given: object, columns: Mapping[str, Any], limits: Mapping[str, int | None]) -> Learned:
    """A record whose marks stand beside limits that are there."""
    if given is None:
        return NOTHING
    marks = isinstance(given, Learned) and all(limits.get(name) is not None for name, _ in given.limits) and all(name in columns for name, _ in given.bounds)
    if not isinstance(given, Learned) or not marks:
        raise Refused("table.learned", "learned=…", "only a limit that is declared can be one that was learned", "the record of Declaration.learned")
    return given


def written(shares: tuple[Fraction, ...] | None) -> list[str]:
    """Shares as a file has them."""
    return [] if shares is None else [str(float(share)) for share in shares]


def read_shares(given: object, count: int) -> tuple[Fraction, ...] | None:
    """The same, read back; refused where it is something else."""
    if isinstance(given, list) and not given:
        return None
    if not isinstance(given, list) or len(given) != count or not all(isinstance(share, str) for share in given):
        raise Refused("table.stored", "learned = …", f"{count} shares in quotes, or an empty list for a default", "the text of to_toml()")
    shares = tuple(exact(share, "learned") for share in given)
    if not all(0 <= share <= 1 for share in shares):
        raise Refused("table.stored", "learned = …", "a share lies between 0 and 1", "the text of to_toml()")
    return shares


def rounded(share: float) -> Fraction:
    """A share to three digits after the point, at most 1: it is not known better."""
    return min(max(Fraction(round(share * 1000), 1000), Fraction(0)), Fraction(1))


def _shares(sides: Mapping[str, Fraction], off: Fraction, of: str, outside: str) -> str:
    """What is told from noise, with its error; where nothing is, how much it can be at most."""
    told = {where: share for where, share in sides.items() if share > max(off, WORTH_SAYING)}
    if told:
        return "".join(f"; about {_percent(share)} ± {_percent(max(off, Fraction(1, 1000)))} {of} {where}" for where, share in told.items())
    most = max(sides.values()) + off
    return f"; at most about {_percent(most)} {of} {outside}" if most > WORTH_SAYING else ""


def _percent(value: Fraction) -> str:
    number = 100 * value
    return f"{round(number)} %" if number >= 1 else f"{float(number):.1g} %"
