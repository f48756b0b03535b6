"""Key selection by a threshold: which groups may be named at all, when the groups come from the
data.

*Law*        Each unit votes in at most m groups, with at most `vote` in each (votes beyond are
             dropped before counting; weights do not do, see below). A group whose votes sum to c is
             kept iff c + Z **≥** T, Z two-sided geometric or a rounded normal; T is the least
             integer that keeps δ.
*Promise*    Approx(ε, δ), also for the noisy counts c + Z of the kept groups. With p = P(vote + Z ≥
             T), a group that exists through one unit only, and j ≤ m of them, δ = max_j [1 − (1 −
             p)^j·(1 − δ_j)], δ_j what the changed counts of the other groups lose at ε: 0 for the
             geometric law, δ_G(ε; √(m − j)·vote/σ) for the rounded normal. Under "replace" twice as
             many counts change, and as many groups are new.
*Error*      `keep_probability(n)`, exactly: a group of n votes is kept with P(Z ≥ T − n).
*Proof*      docs/proofs/key-selection.md. Korolova et al. 2009, in integers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import overload

import numpy as np
from attrs import field
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import ball, below, chance, sqrt_up
from ..exact.numbers import Number, is_whole, open_probability, positive, text
from ..exact.search import first
from ..guarantees import Approx, Guarantee, Relation
from ..guarantees.gdp import delta_of_mu, largest_mu
from ..guarantees.guarantee import relation_of, unit_of
from ..noise.bits import SYSTEM, Bits
from ..noise.geometric import Geometric
from ..noise.law import Points, SymmetricLaw
from ..noise.rounded_normal import RoundedNormal
from ..records import LAST, PARTIAL, record
from .shared import grid as grids
from .shared import mechanism_refusals as refusals
from .shared.mechanism import Input, InputPair, Mechanism, Output
from .stated.audit_example import DELTA, AuditExample
from .stated.stated_laws import FiniteLaws, as_integer

_CELLS = 150  # noisy counts above the threshold that a stated law lists one by one


def check_count(value: int, name: str = "count") -> int:
    most = 2**12 if name == "groups" else 2**40
    if is_whole(value, 1, most):
        return value
    raise refusals.KEY_COUNT_OUT_OF_RANGE(name=name, value=value, most=most)


def _choose_relation(value: str | None) -> Relation | None:
    return "add-remove" if value is None else relation_of(value)


@record(kw_only=True)
class KeySelection(Mechanism):
    """Base class of the rules that decide from numbers of votes which groups may be named. A unit
    votes in at most `groups` groups.
    """

    epsilon: Fraction = field(converter=positive)
    delta: Fraction = field(converter=open_probability)
    groups: int = field(default=1, converter=check_count)
    relation: Relation | None = field(
        default="add-remove", converter=_choose_relation, metadata=LAST
    )
    unit: str | None = field(default=None, converter=unit_of, metadata=LAST)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Approx(self.epsilon, self.delta, **self._neighbours),)

    @property
    def moved(self) -> int:
        """How many groups a neighbour may change: m, or 2m when a unit is replaced."""
        return self.groups * (2 if self.relation == "replace" else 1)

    @abstractmethod
    def keep_probability(self, count: int) -> float:
        """The probability that the rule names a group of this many votes; 0 for no votes."""

    def __repr__(self) -> str:
        shown = (
            "epsilon",
            "delta",
            "groups",
            "sigma",
            "vote",
            "quanta",
            "threshold",
            "relation",
            "unit",
        )
        arguments = [
            f"{name}={text(value) if isinstance(value, Fraction) else repr(value)}"
            for name in shown
            if (value := getattr(self, name, None)) is not None
        ]
        return f"{type(self).__name__}({', '.join(arguments)})"

    why_no_loss_pair = "the law depends on the data; the pair of (ε, δ) dominates it"

    def _pairs_around(self, vote: int, even: int) -> list[InputPair]:
        """List numbers of votes that differ by one voter's, around the `even` number at which a
        group is named as often as not: there draws reveal most.
        """
        votes = (0, vote, even - vote, even, even + vote, 2 * even)
        return list(dict.fromkeys((some, some + vote) for some in votes if some >= 0))


@record(kw_only=True)
class NoisyThreshold(KeySelection):
    """Names a group if and only if its noisy count reaches an integer threshold."""

    vote: int = field(default=1, converter=check_count)
    threshold: int = field(init=False)

    @property
    @abstractmethod
    def law(self) -> SymmetricLaw:
        """The law of Z."""

    @abstractmethod
    def total(self, p: arb, new: int) -> arb:
        """δ if this many of the groups that change are new, each kept with probability p."""

    def perturb(self, count: int, *, bits: Bits = SYSTEM) -> int | None:
        """Return the noisy count if the group may be named, else None."""
        votes = check_votes(count)
        noisy = votes + self.law.draw(bits)
        return noisy if votes > 0 and noisy >= self.threshold else None

    @overload
    def keep(self, count: int, *, bits: Bits = SYSTEM) -> bool: ...

    @overload
    def keep(self, count: Points, *, bits: Bits = SYSTEM) -> NDArray[np.bool_]: ...

    def keep(self, count: int | Points, *, bits: Bits = SYSTEM) -> bool | NDArray[np.bool_]:
        """Whether a group of this many votes is named; for an array, each group by itself."""
        if np.ndim(count) == 0:
            return self.perturb(check_votes(count), bits=bits) is not None
        votes = check_vote_array(count)
        return (votes > 0) & (
            grids.add(votes, self.law.sample(votes.shape, bits)) >= self.threshold
        )

    def keep_probability(self, count: int) -> float:
        votes = check_votes(count)
        return float(self.law.tail(self.threshold - votes)) if votes > 0 else 0.0

    def true_delta(self) -> float:
        """The δ that the threshold gives, rounded up; at most the δ that is promised."""
        return chance(lambda: self._worst(self.threshold).max(self.total(arb(0), 0)), "up")

    def _worst(self, threshold: int) -> arb:
        """δ over all numbers of new groups from 1 on."""
        p = self.law._tail(threshold - self.vote)
        worst = arb(0)
        for new in range(1, self.groups + 1):
            worst = worst.max(self.total(p, new))
        return worst

    def _least(self) -> int:
        """The least threshold T whose δ is at most the promised one; δ falls as T grows."""
        return first(
            lambda t: not below(lambda: ball(self.delta), lambda: self._worst(t)),
            near=self.vote,
            least=self.vote,
        )

    def audit_pairs(self) -> list[InputPair]:
        return self._pairs_around(self.vote, self.threshold)

    def output_laws(self, x: int, y: int) -> FiniteLaws | None:
        """The laws for one group: None, or the noisy count from the threshold on."""
        if np.ndim(x) or np.ndim(y):
            return None
        top = max(x, y, self.threshold) + _CELLS
        return FiniteLaws.between(
            self._law_up_to(top, as_integer(x)), self._law_up_to(top, as_integer(y))
        )

    def _law_up_to(self, top: int, votes: int) -> dict[object, float]:
        if votes <= 0:
            return {None: 1.0, "more": 0.0}
        law: dict[object, float] = {
            k: float(self.law.pmf(k - votes)) for k in range(self.threshold, top)
        }
        law[None] = float(self.law.cdf(self.threshold - 1 - votes))
        law["more"] = float(self.law.tail(top - votes))
        return law

    def draw_once(self, x: Input) -> Output:
        return self.perturb(x) if np.ndim(x) == 0 else tuple(self.perturb(int(v)) for v in x)

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        build: Callable[..., NoisyThreshold] = cls
        return [AuditExample(cls.__name__, lambda e: build(epsilon=e, delta=DELTA), at_once=False)]


@record(kw_only=True)
class LaplaceThreshold(NoisyThreshold):
    """Geometric noise: δ is the chance that the rule names any of m new groups, 1 − (1 − p)^m."""

    law: Geometric = field(init=False, repr=False, eq=False)
    threshold: int = field(init=False)

    @law.default
    def _build_law(self) -> Geometric:
        return Geometric(scale=self.moved * self.vote / self.epsilon)

    @threshold.default
    def _choose_threshold(self) -> int:
        return self._least()

    def total(self, p: arb, new: int) -> arb:
        return 1 - (1 - p) ** new

    def _worst(self, threshold: int) -> arb:
        return self.total(self.law._tail(threshold - self.vote), self.groups)


@lru_cache(maxsize=16)  # the check of σ needs the same list as the record
def _losses_of(
    moved: int, groups: int, vote: int, epsilon: Fraction, sigma: Fraction
) -> tuple[Fraction, ...]:
    """The least δ of the counts at ε, by the number of new groups."""
    squares = [Fraction((moved - new) * vote**2) / sigma**2 for new in range(groups + 1)]
    return tuple(
        Fraction(delta_of_mu(square, epsilon)) if square else Fraction(0) for square in squares
    )


def _choose_sigma(value: Number | None, record: NoisyThreshold = PARTIAL) -> Fraction:
    """The least σ at which the counts keep (ε, δ) if no group is new, or a given one that is large
    enough.
    """
    mu = largest_mu(record.epsilon, record.delta)
    least = sqrt_up(record.moved * record.vote**2 / mu**2)
    sigma = least if value is None else positive(value, "sigma")
    losses = _losses_of(record.moved, record.groups, record.vote, record.epsilon, sigma)
    if losses[0] > record.delta or (value is not None and max(losses[1:]) >= record.delta):
        raise refusals.SIGMA_TOO_SMALL(sigma=value, least=float(least) * (1 + 1e-06))
    return sigma


@record(kw_only=True)
class GaussianThreshold(NoisyThreshold):
    """Rounded normal noise: with the least σ at which the counts keep (ε, δ) if no group is new, or
    with a given σ.
    """

    sigma: Fraction = field(default=None, converter=_choose_sigma)
    law: RoundedNormal = field(init=False, repr=False, eq=False)
    # δ_j of the counts, by the number of new groups
    _losses: tuple[Fraction, ...] = field(init=False)
    threshold: int = field(init=False)

    @law.default
    def _build_law(self) -> RoundedNormal:
        return RoundedNormal(sigma=self.sigma)

    @_losses.default
    def _list_losses(self) -> tuple[Fraction, ...]:
        return _losses_of(self.moved, self.groups, self.vote, self.epsilon, self.sigma)

    @threshold.default
    def _choose_threshold(self) -> int:
        return self._least()

    def total(self, p: arb, new: int) -> arb:
        return 1 - (1 - p) ** new * (1 - ball(self._losses[new]))


def check_votes(count: object) -> int:
    """Check one number of votes."""
    votes = np.asarray(count)
    if votes.ndim == 0 and votes.dtype.kind in "iu":
        return int(votes)
    raise refusals.NOT_AN_INTEGER(name="count", type=type(count).__name__)


def check_vote_array(counts: object) -> NDArray[np.int64]:
    """Check an array of numbers of votes."""
    votes = grids.whole_numbers(counts)
    if votes is None or votes.dtype == object:
        raise refusals.VOTES_NOT_INTEGERS(type=np.asarray(counts).dtype)
    return votes
