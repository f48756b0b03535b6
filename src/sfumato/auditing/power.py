"""The power of an audit: the largest bound that it can expect to prove at a sample size, from the
exact law.

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

from ..guarantees import GDP, Guarantee
from . import audit_refusals as refusals
from .bounds import delta_of, epsilon_bound, mu_bound
from .canonical_outputs import Input
from .clopper_pearson import lower_limit, upper_limit
from .law_pair import LawPair
from .runners import runner_of


def best_expected(
    what: object,
    x: Input,
    y: Input,
    *,
    samples: int,
    confidence: float = 0.999999,
    claim: Guarantee | None = None,
    delta: float | None = None,
    events: int = 1,
) -> float:
    """Compute the largest bound that an audit of so many draws per input can expect: on μ for a
    claim in μ, else on ε. `events` events share 1 − confidence.
    """
    runner = runner_of(what)
    promised = claim if claim is not None else runner.claim
    laws = runner.law(x, y)
    if promised is None or laws is None:
        raise refusals.EXPECTATION_WITHOUT_LAW(type=type(what).__name__)
    return expected_bound(
        laws, promised, delta_of(promised, delta), samples=samples, alpha=(1 - confidence) / events
    )


def expected_bound(
    laws: LawPair, claim: Guarantee, delta: float, *, samples: int, alpha: float
) -> float:
    """Compute the largest expected bound for a pair of known laws."""
    return laws.best_event(claim, delta, samples=samples, alpha=alpha)[0]


def sure_bound(
    laws: LawPair,
    claim: Guarantee,
    delta: float,
    *,
    samples: int,
    alpha: float,
    chance: float = 1e-6,
) -> float:
    """Compute the bound that the best event proves except with probability `chance`: with its
    counts at their unlucky quantiles.
    """
    from scipy.stats import binom

    _, _, p, q = laws.best_event(claim, delta, samples=samples, alpha=alpha)
    hits, others = int(binom.ppf(chance / 2, samples, p)), int(binom.isf(chance / 2, samples, q))
    low, high = lower_limit(hits, samples, alpha / 2), upper_limit(others, samples, alpha / 2)
    return mu_bound(low, high) if isinstance(claim, GDP) else epsilon_bound(low, high, delta)


def ceiling(samples: int, confidence: float) -> float:
    """Compute the largest ε that n draws per input can ever prove, by an event that always happens
    at one input and never at the other.
    """
    missed = -math.expm1(math.log((1 - confidence) / 2) / samples)  # 1 − (α/2)^(1/n)
    return math.log1p(-missed) - math.log(missed)
