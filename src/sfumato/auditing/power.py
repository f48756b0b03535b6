"""How much an audit can prove at best: what the best event's limits are expected to be at a sample
size, from the exact law.

*Share*   With n draws a side and a chance of error α, the event of the best likelihood ratios is
          seen as often as it is likely; its limits, each at α/2, give the bound. No audit that
          counts one event chosen beforehand can expect much more. At ε = 0.1 a million draws prove
          nine tenths.
*Sure*    Counts scatter, and bounds with them: by 2 % at ε = 0.1 and a million draws. What the
          event proves even with bad luck is what a test may ask for. *Ceiling* An event that always
          happens at one input and never at the other proves at most ln(p/q), p = (α/2)^(1/n) and q
          = 1 − p.
"""

from __future__ import annotations

import math
from typing import Any

from ..errors import Refused
from ..guarantees import GDP, Guarantee
from .bounds import delta_of, epsilon_bound, mu_bound
from .clopper_pearson import lower_limit, upper_limit
from .law_pair import Known
from .runners import runner_of


def best_expected(
    what: Any,
    x: Any,
    y: Any,
    *,
    samples: int,
    confidence: float = 0.999999,
    claim: Guarantee | None = None,
    delta: float | None = None,
    events: int = 1,
) -> float:
    """The largest bound, on μ for a claim in μ and else on ε, that an audit of so many draws a side
    can expect; `events` share what the confidence leaves.
    """
    runner = runner_of(what)
    promised = claim if claim is not None else runner.claim
    known = runner.law(x, y)
    if promised is None or known is None:
        raise Refused(
            "audit.exact",
            type(what).__name__,
            "its law at these inputs is not known, or not finite",
            "an audit by sampling has no such figure",
        )
    return expected_of(
        known, promised, delta_of(promised, delta), samples=samples, alpha=(1 - confidence) / events
    )


def expected_of(
    known: Known, claim: Guarantee, delta: float, *, samples: int, alpha: float
) -> float:
    """The same for two known laws."""
    return known.best(claim, delta, samples=samples, alpha=alpha)[0]


def sure_of(
    known: Known,
    claim: Guarantee,
    delta: float,
    *,
    samples: int,
    alpha: float,
    chance: float = 1e-6,
) -> float:
    """What the best event proves at least, but for a chance of bad luck: its counts at the ends of
    where they then lie.
    """
    from scipy.stats import binom

    _, _, p, q = known.best(claim, delta, samples=samples, alpha=alpha)
    hits, others = int(binom.ppf(chance / 2, samples, p)), int(binom.isf(chance / 2, samples, q))
    low, high = lower_limit(hits, samples, alpha / 2), upper_limit(others, samples, alpha / 2)
    return mu_bound(low, high) if isinstance(claim, GDP) else epsilon_bound(low, high, delta)


def ceiling(samples: int, confidence: float) -> float:
    """The largest ε that n draws a side can ever prove, by an event that always and never
    happens.
    """
    missed = -math.expm1(math.log((1 - confidence) / 2) / samples)  # 1 − (α/2)^(1/n)
    return math.log1p(-missed) - math.log(missed)
