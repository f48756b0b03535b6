"""Audit everything that adds noise: each entry of the catalogue at each ε and each pair, with one
false-alarm probability for the whole survey.

*Family*  α = 1 − confidence is shared equally by all pairs that are audited by sampling, so that in
          the whole survey a sound mechanism is accused with a chance of at most α. By arithmetic
          nothing is left to chance.
*Row*     A mechanism at one ε: the largest bound over its pairs, which are all true at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ..errors import Refused
from ..guarantees import GDP
from ..mechanisms.stated.audit_example import AuditExample
from . import audit_refusals as refusals
from .audit import CONFIDENCE, LEAST, audit
from .audit_result import Audit, Verdict
from .bounds import delta_of
from .canonical_outputs import Draws, Input, Pair
from .catalogue import CATALOGUE, EPSILONS
from .power import expected_bound, sure_bound
from .runners import Runner, law_pair_of, runner_of

SAMPLES = 2_000
MANY = 10
"""Where one call gives all draws, the survey makes this many times as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRow:
    """The result for one mechanism at one ε."""

    name: str
    epsilon: float
    measure: str  # ε or μ
    claimed: float
    proven: float
    # the largest bound over the pairs that so many draws can expect; None without a known law
    expected: float | None
    sure: float | None  # the bound that draws reach except with probability 10⁻⁶
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
) -> list[SurveyRow]:
    """Audit the named entries, or all. Where one call gives all draws the survey makes `many`; with
    `exact` it uses arithmetic in place of draws made one by one.
    """
    chosen = find_entries(names)
    levels = check_levels(chosen, epsilons)
    plan = [(entry, e) for entry in chosen for e in levels if e <= entry.most]
    family = sum(len(entry.pairs(entry.build(e))) for entry, e in plan)
    # a share of α may be rounded down alone
    each = math.nextafter(1 - (1 - confidence) / max(1, family), 1)
    rows: list[SurveyRow] = []
    for entry, e in plan:
        if begin is not None and (not rows or rows[-1].name != entry.name):
            begin(entry.name)
        rows.append(
            audit_entry(
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


def find_entries(names: Sequence[str]) -> list[AuditExample]:
    """Find entries by name, in the order of the catalogue; refuse unknown names."""
    chosen = {name.lower() for name in names}
    entries = {entry.name.lower(): entry for entry in CATALOGUE}
    for name in names:
        if not any(key == name.lower() or key.split(",")[0] == name.lower() for key in entries):
            raise _unknown_mechanism(name)
    return [
        entry
        for key, entry in entries.items()
        if not chosen or key in chosen or key.split(",")[0] in chosen
    ]


def _unknown_mechanism(name: str) -> Refused:
    names = sorted({entry.name.split(",")[0] for entry in CATALOGUE})
    nearest = next(iter(get_close_matches(name, names, 1)), names[0])
    return refusals.UNKNOWN_MECHANISM(name=name, names=", ".join(names), nearest=nearest)


def check_levels(chosen: Sequence[AuditExample], epsilons: Iterable[float]) -> tuple[float, ...]:
    """Check the levels of ε: refuse a level at which no chosen entry can be built, unless all are
    the defaults.
    """
    levels = tuple(epsilons)
    for e in levels if levels != EPSILONS else ():
        if not any(0 < e <= entry.most for entry in chosen):  # NaN is none either
            most = max(entry.most for entry in chosen)
            raise refusals.EPSILON_OUT_OF_RANGE(epsilon=e, most=most)
    return levels


def audit_entry(
    entry: AuditExample, epsilon: float, *, samples: int, confidence: float, exact: bool
) -> SurveyRow:
    """Audit all pairs of one entry at one ε."""
    mechanism = entry.build(epsilon)
    what = replace(_with_shared_draws(runner_of(mechanism)), claim=entry.claim(mechanism))
    pairs = entry.pairs(mechanism)
    by_law = (
        exact
        and (entry.by_law or not entry.at_once)
        and all(law_pair_of(what, pair) is not None for pair in pairs)
    )
    audits = tuple(
        audit(what, *pair, samples=samples, confidence=confidence, exact=by_law) for pair in pairs
    )
    claim = audits[0].claim
    gaussian = isinstance(claim, GDP)
    worst = max(
        audits, key=lambda audited: audited.mu_lower or 0.0 if gaussian else audited.epsilon_lower
    )
    expected, sure = (None, None) if by_law else _expected_bounds(what, pairs, samples, confidence)
    return SurveyRow(
        name=entry.name,
        epsilon=epsilon,
        measure="μ" if gaussian else "ε",
        claimed=float(claim.mu) if isinstance(claim, GDP) else worst.claimed_epsilon,
        proven=(worst.mu_lower or 0.0) if gaussian else worst.epsilon_lower,
        expected=expected,
        sure=sure,
        pairs=len(pairs),
        samples=0 if by_law else samples,
        exact=by_law,
        verdict="violated" if any(audited.verdict == "violated" for audited in audits) else "holds",
        audits=audits,
    )


def _with_shared_draws(runner: Runner) -> Runner:
    """Return a runner that draws once for every input: pairs that share an input share its draws.
    Each limit holds as before, and all together hold by the sum of their shares of α, which needs
    no independence.
    """
    drawn: dict[tuple[str, int], Draws] = {}

    def draw(x: Input, n: int) -> Draws:
        key = repr(x), n
        if key not in drawn:
            drawn[key] = runner.draw(x, n)
        return drawn[key]

    return replace(runner, draw=draw)


def _expected_bounds(
    runner: Runner, pairs: list[Pair], samples: int, confidence: float
) -> tuple[float | None, float | None]:
    """Compute the largest expected bound over the pairs whose law is known, and its sure part. The
    law's event has half of α; the learned event has the other half.
    """
    pairs_of_laws = [laws for pair in pairs if (laws := law_pair_of(runner, pair)) is not None]
    claim = runner.claim
    if not pairs_of_laws or claim is None:
        return None, None
    delta, alpha = delta_of(claim, None), (1 - confidence) / 2
    laws = max(
        pairs_of_laws,
        key=lambda pair: expected_bound(pair, claim, delta, samples=samples, alpha=alpha),
    )
    return (
        expected_bound(laws, claim, delta, samples=samples, alpha=alpha),
        sure_bound(laws, claim, delta, samples=samples, alpha=alpha),
    )
