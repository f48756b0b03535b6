"""Key selection by the optimal rule for one vote, in one group or over many, also for weights.

*Law*        A group of weight W is kept with probability π(W), independently of the others: π(0) =
             0 and π(w + 1) = min(e^η·π(w) + κ, 1 − e^(−η)·(1 − π(w) − κ), 1), evaluated in closed
             form; the coin is exact.
*Promise*    Approx(ε, δ), where a unit gives at most `quanta` to a group and at most m·quanta in
             all, over **any** number of groups: then η = ε/(m·quanta), κ = (δ/m)·(e^η − 1)/(e^(ε/m)
             − 1). With quanta = 1 this is one vote in each of at most m groups (Desfontaines, Voss,
             Gipson & Mandayam 2022). A unit that may put k quanta into one group: groups=1,
             quanta=k. Under "replace", m stands for twice as many.
*Error*      `keep_probability(n)`: with one group per unit no rule that keeps (ε, δ) keeps a group
             of n more often. With several, `GaussianThreshold`, whose noise grows with the root of
             their number, soon does: from three on at (1, 10^-5).
*Draw*       U < π(W) in double precision where U is farther from it than a stated margin; else in
             ball arithmetic, with the same bits of U and further ones.
*Proof*      docs/proofs/optimal-selection.md
"""

from __future__ import annotations

from fractions import Fraction
from typing import overload

import numpy as np
from attrs import field
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import Rounding, ball, below, chance, evaluate
from ..exact.search import first
from ..noise.bits import SYSTEM, Bits
from ..noise.law import Points
from ..noise.uniform import lies_below
from ..records import record
from .key_selection import KeySelection, check_count, check_vote_array, check_votes
from .shared.mechanism import Input, InputPair, Output
from .stated.audit_example import DELTA, AuditExample
from .stated.stated_laws import FiniteLaws, as_integer

MARGIN = 2.0**-40
"""Assumed: expm1 of a double in [−800, 700] errs by less than 2^-42 of itself; proved: what is
added, multiplied and converted errs by less than 2^-41.
"""

_PLAIN = (2.0**-900, 2.0**900)  # constants in this range give normal doubles only


@record(kw_only=True)
class OptimalSelection(KeySelection):
    """Names a group with the largest probability that ε and δ allow for each vote."""

    quanta: int = field(default=1, converter=check_count)
    _turn: int = field(init=False)  # up to it π grows by the first branch of the minimum
    _sure: int = field(init=False)  # from it on π is 1
    # η, κ/(e^η − 1) and π(turn), to the nearest double
    _doubles: tuple[float, float, float] = field(init=False)

    @_turn.default
    def _find_turn(self) -> int:
        return first(self._past_the_turn, near=self._guess_steps(self._wall()), least=1)

    @_sure.default
    def _find_sure(self) -> int:
        return first(
            lambda w: not below(lambda: arb(0), lambda: self._missing(w)),
            near=self._turn + self._guess_steps(1 - self._share(self._turn)),
            least=self._turn,
        )

    def _guess_steps(self, share: arb) -> int:
        """Guess in how many steps the first branch grows by `share`: where a search begins."""
        steps = float(((share / self._extra()).log1p() / ball(self.step)).mid())
        return int(steps) if 0 <= steps < 2**62 else 1

    @_doubles.default
    def _round_numbers(self) -> tuple[float, float, float]:
        turn = evaluate(lambda: self._share(self._turn))
        return evaluate(lambda: ball(self.step)), evaluate(self._extra), turn

    @property
    def step(self) -> Fraction:
        """η, the ε of one quantum."""
        return self.epsilon / (self.moved * self.quanta)

    @overload
    def keep(self, weight: int, *, bits: Bits = SYSTEM) -> bool: ...

    @overload
    def keep(self, weight: Points, *, bits: Bits = SYSTEM) -> NDArray[np.bool_]: ...

    def keep(self, weight: int | Points, *, bits: Bits = SYSTEM) -> bool | NDArray[np.bool_]:
        """Whether a group of this weight is named; for an array, each group by itself."""
        if np.ndim(weight) == 0:
            return self._settle(check_votes(weight), bits.integer(64), bits)
        weights = check_vote_array(weight)
        flat, words = weights.ravel(), bits.words(weights.size)
        is_kept = flat >= self._sure
        lanes = np.flatnonzero((flat > 0) & ~is_kept)
        ahead = self._shares(flat[lanes]) - words[lanes].astype(np.float64) * 2.0**-64
        is_kept[lanes] = ahead > 0
        for lane in lanes[~(np.abs(ahead) > MARGIN)].tolist():  # NaN is in doubt, too
            is_kept[lane] = self._settle(int(flat[lane]), int(words[lane]), bits)
        return is_kept.reshape(weights.shape)

    perturb = keep

    def _shares(self, w: NDArray[np.int64]) -> NDArray[np.float64]:
        """π(w) for 0 < w < sure in double precision, to half of MARGIN; NaN, which decides nothing,
        where the constants are too extreme.
        """
        step, extra, turned = self._doubles
        turn = min(self._turn, 2**63 - 1)
        first, shares = w <= turn, np.full(len(w), np.nan)
        if _PLAIN[0] < step and _PLAIN[0] < extra < _PLAIN[1]:
            shares[first] = extra * np.expm1(w[first] * step)
            shares[~first] = turned - (1 - turned + extra) * np.expm1((w[~first] - turn) * -step)
        return shares

    def _settle(self, w: int, level: int, bits: Bits) -> bool:
        """Whether the uniform number that begins with these 64 bits is below π(w)."""
        return lies_below(lambda: self._share(w), level, 64, bits) if 0 < w < self._sure else w > 0

    def keep_probability(self, count: int, rounding: Rounding = "nearest") -> float:
        w = check_votes(count)
        return chance(lambda: self._share(w), rounding) if 0 < w < self._sure else float(w > 0)

    def _extra(self) -> arb:
        """κ/(e^η − 1) = (δ/m)/(e^(ε/m) − 1)."""
        return ball(self.delta / self.moved) / ball(self.epsilon / self.moved).expm1()

    def _share(self, w: int) -> arb:
        """π(w) below the last step: κ(e^(wη) − 1)/(e^η − 1) up to the turn, then 1 less what is
        missing.
        """
        return (
            self._extra() * ball(w * self.step).expm1() if w <= self._turn else 1 - self._missing(w)
        )

    def _missing(self, w: int) -> arb:
        """1 − π(w) from the turn on, before it is cut at 0: e^(−(w − turn)η)·(1 − π(turn) + κ/(e^η
        − 1)) − κ/(e^η − 1).
        """
        extra = self._extra()
        return (-ball((w - self._turn) * self.step)).exp() * (
            1 - self._share(self._turn) + extra
        ) - extra

    def _past_the_turn(self, w: int) -> bool:
        """Whether the second branch is the smaller one at w: π(w) > (1 − κ)/(1 + e^η), with π(w) by
        the first branch.
        """
        return below(self._wall, lambda: self._extra() * ball(w * self.step).expm1())

    def _wall(self) -> arb:
        """(1 − κ)/(1 + e^η)."""
        grow = ball(self.step).expm1()
        return (1 - self._extra() * grow) / (2 + grow)

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [AuditExample("OptimalSelection", lambda e: cls(epsilon=e, delta=DELTA))]

    def audit_pairs(self) -> list[InputPair]:
        groups = first(lambda n: self.keep_probability(n * self.quanta) >= 0.5, near=1, least=1)
        return self._pairs_around(self.quanta, groups * self.quanta)

    def output_laws(self, x: int, y: int) -> FiniteLaws | None:
        """The laws of whether one group is named."""
        if np.ndim(x) or np.ndim(y):
            return None
        law_x, law_y = (
            {1: self.keep_probability(w), 0: self._unnamed_chance(w)}
            for w in map(as_integer, (x, y))
        )
        return FiniteLaws.between(law_x, law_y)

    def _unnamed_chance(self, w: int) -> float:
        """1 − π(w); taken from one in doubles it would lose its digits."""
        return chance(lambda: 1 - self._share(w)) if 0 < w < self._sure else float(w <= 0)

    def draw_once(self, x: Input) -> Output:
        is_named = np.asarray(self.keep(np.atleast_1d(x))).astype(np.int64)
        return is_named if np.ndim(x) else int(is_named[0])

    def draw_many(self, x: Input, n: int) -> NDArray[np.int64]:
        weights = np.full(n, x) if np.ndim(x) == 0 else np.tile(x, n)
        return np.asarray(self.keep(weights)).reshape(n, *np.shape(x)).astype(np.int64)
