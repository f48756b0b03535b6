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
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypedDict, Unpack, overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import ball, below, chance, sqrt_up
from ..exact.numbers import Number, is_whole, positive, probability, text
from ..exact.search import first
from ..guarantees import Approx, Guarantee, Relation
from ..guarantees.gdp import delta_of_mu, largest_mu
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..noise.geometric import Geometric
from ..noise.law import Points, SymmetricLaw
from ..noise.rounded_normal import RoundedNormal
from .shared import grid as grids
from .shared import mechanism_refusals as refusals
from .shared.audit_example import DELTA, AuditExample
from .shared.mechanism import Input, InputPair, Mechanism, Output, set_neighbours
from .shared.stated_laws import FiniteLaws, as_integer

_CELLS = 150  # noisy counts above the threshold that a stated law lists one by one


class KeyOptions(TypedDict, total=False):
    """The keywords of all rules. A unit votes in at most `groups` groups."""

    groups: int
    relation: Relation
    unit: str | None


class KeySelection(Mechanism):
    """Base class of the rules that decide from numbers of votes which groups may be named."""

    __slots__ = ()

    epsilon: Fraction
    delta: Fraction
    groups: int

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


class NoisyThreshold(KeySelection):
    """Names a group if and only if its noisy count reaches an integer threshold."""

    __slots__ = ()

    vote: int
    threshold: int

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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LaplaceThreshold(NoisyThreshold):
    """Geometric noise: δ is the chance that the rule names any of m new groups, 1 − (1 − p)^m."""

    epsilon: Fraction
    delta: Fraction
    groups: int
    vote: int
    threshold: int
    relation: Relation | None
    unit: str | None
    _law: Geometric = field(repr=False, compare=False)

    @spell_out(KeyOptions, groups=1, relation="add-remove")
    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        vote: int = 1,
        **options: Unpack[KeyOptions],
    ) -> None:
        set_key_fields(self, epsilon, delta, **options)
        object.__setattr__(self, "vote", check_count(vote, "vote"))
        object.__setattr__(self, "_law", Geometric(scale=self.moved * vote / self.epsilon))
        object.__setattr__(self, "threshold", self._least())

    @property
    def law(self) -> Geometric:
        return self._law

    def total(self, p: arb, new: int) -> arb:
        return 1 - (1 - p) ** new

    def _worst(self, threshold: int) -> arb:
        return self.total(self.law._tail(threshold - self.vote), self.groups)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GaussianThreshold(NoisyThreshold):
    """Rounded normal noise: with the least σ at which the counts keep (ε, δ) if no group is new, or
    with a given σ.
    """

    epsilon: Fraction
    delta: Fraction
    groups: int
    vote: int
    sigma: Fraction
    threshold: int
    relation: Relation | None
    unit: str | None
    _law: RoundedNormal = field(repr=False, compare=False)
    _losses: tuple[Fraction, ...] = field(
        repr=False, compare=False
    )  # δ_j of the counts, by the number of new groups

    @spell_out(KeyOptions, groups=1, relation="add-remove")
    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        vote: int = 1,
        sigma: Number | None = None,
        **options: Unpack[KeyOptions],
    ) -> None:
        set_key_fields(self, epsilon, delta, **options)
        put = object.__setattr__
        put(self, "vote", check_count(vote, "vote"))
        least = sqrt_up(self.moved * vote**2 / largest_mu(self.epsilon, self.delta) ** 2)
        put(self, "sigma", least if sigma is None else positive(sigma, "sigma"))
        put(self, "_law", RoundedNormal(sigma=self.sigma))
        squares = [
            Fraction((self.moved - new) * vote**2) / self.sigma**2 for new in range(self.groups + 1)
        ]
        put(
            self,
            "_losses",
            tuple(
                Fraction(delta_of_mu(square, self.epsilon)) if square else Fraction(0)
                for square in squares
            ),
        )
        if self._losses[0] > self.delta or (
            sigma is not None and max(self._losses[1:]) >= self.delta
        ):
            raise refusals.SIGMA_TOO_SMALL(sigma=sigma, least=float(least) * (1 + 1e-06))
        put(self, "threshold", self._least())

    @property
    def law(self) -> RoundedNormal:
        return self._law

    def total(self, p: arb, new: int) -> arb:
        return 1 - (1 - p) ** new * (1 - ball(self._losses[new]))


def set_key_fields(
    record: KeySelection, epsilon: Number, delta: Number, **options: Unpack[KeyOptions]
) -> None:
    """Set the fields that all rules share."""
    put = object.__setattr__
    put(record, "epsilon", positive(epsilon, "epsilon"))
    put(record, "delta", probability(delta, "delta", zero=False))
    put(record, "groups", check_count(options.get("groups", 1), "groups"))
    relation = options.get("relation")
    stated = "add-remove" if relation is None else relation
    set_neighbours(record, {"relation": stated, "unit": options.get("unit")})


def check_count(value: object, name: str) -> int:
    most = 2**12 if name == "groups" else 2**40
    if is_whole(value, 1, most):
        return value
    raise refusals.KEY_COUNT_OUT_OF_RANGE(name=name, value=value, most=most)


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
