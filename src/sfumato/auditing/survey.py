"""The audit of everything that adds noise: each entry of the catalogue at each ε and each pair,
with one chance of a false alarm for all of it.

*Family*  α = 1 − confidence is shared equally by all pairs that are audited by sampling, so that in
          the whole survey a sound mechanism is accused with a chance of at most α. By arithmetic
          nothing is left to chance.
*Row*     A mechanism at one ε: the largest bound over its pairs, which are all true at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Refused
from ..guarantees import GDP
from .audit import CONFIDENCE, LEAST, audit
from .audit_result import Audit, Verdict
from .bounds import delta_of
from .catalogue import CATALOGUE, EPSILONS, Entry
from .power import expected_of, sure_of
from .runners import Runner, known_law, runner_of

SAMPLES = 2_000
MANY = 10
"""Where one call gives all draws, this many times as many are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A mechanism at one ε."""

    name: str
    epsilon: float
    measure: str  # ε or μ
    claimed: float
    proven: float
    expected: (
        float | None
        # the largest bound over the pairs that so many draws can expect; None where the law is not
        # known
    )
    sure: float | None  # what of it bad luck leaves, but for a chance of 10⁻⁶
    pairs: int
    samples: int
    exact: bool
    verdict: Verdict
    audits: tuple[Audit, ...]


def survey(
    names: Sequence[str] = (),
    *,
    samples: int = SAMPLES,
    many: int | None = None,
    confidence: float = CONFIDENCE,
    epsilons: Iterable[float] = EPSILONS,
    exact: bool = True,
    begin: Callable[[str], None] | None = None,
) -> list[Row]:
    """Audit the named entries, or all. `many` draws where one call gives them all; with `exact`,
    arithmetic in place of draws made one by one.
    """
    chosen = chosen_entries(names)
    levels = known_levels(chosen, epsilons)
    plan = [(entry, e) for entry in chosen for e in levels if e <= entry.most]
    family = sum(len(entry.pairs(entry.build(e))) for entry, e in plan)
    each = math.nextafter(
        1 - (1 - confidence) / max(1, family), 1
    )  # a share of α may be rounded down alone
    rows: list[Row] = []
    for entry, e in plan:
        if begin is not None and (not rows or rows[-1].name != entry.name):
            begin(entry.name)
        rows.append(
            row(
                entry,
                e,
                samples=(many or MANY * samples)
                if entry.at_once
                else max(LEAST, samples // entry.slow),
                confidence=each,
                exact=exact,
            )
        )
    return rows


def chosen_entries(names: Sequence[str]) -> list[Entry]:
    """Entries by name, in the order of the catalogue; a name that is none is refused."""
    wanted = {name.lower() for name in names}
    known = {entry.name.lower(): entry for entry in CATALOGUE}
    for name in names:
        if not any(key == name.lower() or key.split(",")[0] == name.lower() for key in known):
            raise Refused(
                "audit.mechanism",
                name,
                "no mechanism of this name is in the catalogue",
                ", ".join(sorted({e.name.split(",")[0] for e in CATALOGUE})),
            )
    return [
        entry
        for key, entry in known.items()
        if not wanted or key in wanted or key.split(",")[0] in wanted
    ]


def known_levels(chosen: Sequence[Entry], epsilons: Iterable[float]) -> tuple[float, ...]:
    """The levels of ε; one at which nothing that is chosen is made is refused, unless it is among
    those that are always tried.
    """
    levels = tuple(epsilons)
    for e in levels if levels != EPSILONS else ():
        if not any(0 < e <= entry.most for entry in chosen):  # NaN is none either
            most = max(entry.most for entry in chosen)
            raise Refused(
                "audit.epsilon",
                f"epsilon={e:g}",
                "nothing that is chosen is audited at this level",
                f"0 < epsilon ≤ {most:g}",
            )
    return levels


def row(entry: Entry, epsilon: float, *, samples: int, confidence: float, exact: bool) -> Row:
    """All pairs of one entry at one ε."""
    made = entry.build(epsilon)
    what = replace(_remembering(runner_of(made)), claim=entry.claim(made))
    pairs = entry.pairs(made)
    by_law = (
        exact
        and (entry.by_law or not entry.at_once)
        and all(known_law(what, pair) is not None for pair in pairs)
    )
    found = tuple(
        audit(what, *pair, samples=samples, confidence=confidence, exact=by_law) for pair in pairs
    )
    claim = found[0].claim
    gaussian = isinstance(claim, GDP)
    worst = max(found, key=lambda one: one.mu_lower or 0.0 if gaussian else one.epsilon_lower)
    expected, sure = (None, None) if by_law else _expected(what, pairs, samples, confidence)
    return Row(
        name=entry.name, epsilon=epsilon, measure="μ" if gaussian else "ε", claimed=float(claim.mu) if isinstance(claim, GDP) else worst.claimed_epsilon,
        proven=(worst.mu_lower or 0.0) if gaussian else worst.epsilon_lower, expected=expected, sure=sure,
        pairs=len(pairs), samples=0 if by_law else samples, exact=by_law,
        verdict="violated" if any(one.verdict == "violated" for one in found) else "holds", audits=found,
    )  # fmt: skip


def _remembering(runner: Runner) -> Runner:
    """The same, with one set of draws for every input: pairs that share an input share its draws.
    Each limit is as true as before, and all of them together as true as their shares of α add up
    to: for that they need not be independent.
    """
    drawn: dict[tuple[str, int], Any] = {}

    def draw(x: Any, n: int) -> Any:
        key = repr(x), n
        if key not in drawn:
            drawn[key] = runner.draw(x, n)
        return drawn[key]

    return replace(runner, draw=draw)


def _expected(
    runner: Runner, pairs: list[tuple[object, object]], samples: int, confidence: float
) -> tuple[float | None, float | None]:
    """The largest over the pairs whose law is known, at the share of α that the law's event has, a
    half, beside the learned one; and what is sure of it.
    """
    found = [known for pair in pairs if (known := known_law(runner, pair)) is not None]
    if not found or runner.claim is None:
        return None, None
    delta, alpha = delta_of(runner.claim, None), (1 - confidence) / 2
    known = max(
        found,
        key=lambda one: expected_of(one, runner.claim, delta, samples=samples, alpha=alpha),  # type: ignore[arg-type]
    )
    sizes: dict[str, Any] = {"samples": samples, "alpha": alpha}
    return expected_of(known, runner.claim, delta, **sizes), sure_of(
        known, runner.claim, delta, **sizes
    )
