"""Above threshold, also called the sparse vector technique: which of many queries lie above a
threshold, paying only for those that do.

*Law*        T + Z₁ is drawn once; a query of value v is answered yes iff v + Z₂ ≥ T + Z₁, with a
             fresh Z₂ each time. Both are two-sided geometric: Z₁ of scale Δ/ε₁, Z₂ of scale 2cΔ/ε₂,
             or cΔ/ε₂ for monotone queries. After c answers of yes the session is over.
*Promise*    Pure(ε₁ + ε₂) for any number of queries, chosen one after another in the light of the
             answers (Dwork et al. 2009; Lyu, Su & Li 2017). Monotone: between neighbours all values
             move in the same direction, as counts do when a unit is added.
*Error*      But for a chance of β, every yes has a value of at least T − α and every no one of at
             most T + α: `accuracy(queries=, beta=)`.
*Proof*      docs/proofs/above-threshold.md, with the published variants that are not private and
             what breaks them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Integral
from typing import NoReturn

from attrs import field

from ..exact.balls import ball, evaluate, least
from ..exact.numbers import Number, is_whole, open_probability, positive, probability, text
from ..guarantees import Guarantee, Pure, Relation
from ..guarantees.guarantee import relation_of, unit_of
from ..noise.bits import SYSTEM, Bits
from ..noise.geometric import Geometric
from ..records import PARTIAL, check_flag, record
from .shared import mechanism_refusals as refusals
from .shared.additive import check_integer_sensitivity
from .shared.mechanism import Mechanism
from .stated.audit_example import AuditExample
from .stated.stated_laws import FiniteLaws
from .stated.threshold_laws import threshold_examples, threshold_laws


def _count(value: int, name: str = "answers") -> int:
    if is_whole(value, 1, 2**40):
        return value
    raise refusals.QUERY_COUNT_OUT_OF_RANGE(name=name, value=value)


def _choose_share(value: Number | None, record: AboveThreshold = PARTIAL) -> Fraction:
    if value is None:
        return best_share(answers=record.answers, monotone=record.monotone)
    return open_probability(value, "threshold_share")


@record(kw_only=True)
class AboveThreshold(Mechanism):
    """c answers of yes, and any number of no, for one ε."""

    sensitivity: Fraction = field(converter=check_integer_sensitivity)
    epsilon: Fraction = field(converter=positive)
    answers: int = field(default=1, converter=_count)
    monotone: bool = field(default=False, converter=check_flag)
    threshold_share: Fraction = field(default=None, converter=_choose_share)
    relation: Relation | None = field(default=None, converter=relation_of)
    unit: str | None = field(default=None, converter=unit_of)

    def __attrs_post_init__(self) -> None:
        _ = self.threshold_law, self.query_law  # refuses scales that cannot be drawn

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(self.epsilon, **self._neighbours),)

    @property
    def threshold_law(self) -> Geometric:
        """The law of Z₁."""
        return Geometric(scale=self.sensitivity / (self.threshold_share * self.epsilon))

    @property
    def query_law(self) -> Geometric:
        """The law of Z₂."""
        factor = self.answers if self.monotone else 2 * self.answers
        return Geometric(
            scale=factor * self.sensitivity / ((1 - self.threshold_share) * self.epsilon)
        )

    def start(self, threshold: int, *, bits: Bits = SYSTEM) -> Session:
        """Start a session against one public threshold. Each session costs the promise anew."""
        return Session(
            self.answers,
            _check_integer(threshold, "threshold") + self.threshold_law.draw(bits),
            self.query_law,
            bits,
        )

    def accuracy(self, *, queries: int, beta: Number) -> int:
        """The α of *Error* for this many queries: |Z₁| and all |Z₂| stay within their quantiles at
        β/2 each, the latter shared out among the queries.
        """
        k, missing = _count(queries, "queries"), probability(beta, "beta", zero=False)
        return self.threshold_law.half_width(1 - missing / 2) + self.query_law.half_width(
            1 - missing / (2 * k)
        )

    @classmethod
    def for_accuracy(
        cls,
        *,
        alpha: int,
        queries: int,
        beta: Number,
        sensitivity: Number = 1,
        answers: int = 1,
        monotone: bool = False,
        threshold_share: Number | None = None,
    ) -> AboveThreshold:
        """The record of the least ε (to 2^-50 of itself) whose α for this many queries is at most
        the one given.
        """
        _count(alpha, "alpha")

        def build(epsilon: Fraction) -> AboveThreshold:
            return cls(
                sensitivity=sensitivity,
                epsilon=epsilon,
                answers=answers,
                monotone=monotone,
                threshold_share=threshold_share,
            )

        return build(least(lambda e: build(e).accuracy(queries=queries, beta=beta) <= alpha))

    def __repr__(self) -> str:
        named = {
            "sensitivity": text(self.sensitivity),
            "epsilon": text(self.epsilon),
            "answers": self.answers,
            "monotone": self.monotone,
        }
        return (
            f"AboveThreshold({', '.join(f'{name}={value}' for name, value in named.items())}, "
            f"threshold_share={text(self.threshold_share)})"
        )

    why_no_loss_pair = "the law depends on the data; the pair of ε dominates it"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return threshold_examples(cls)

    def output_laws(self, x: Sequence[int], y: Sequence[int]) -> FiniteLaws | None:
        return threshold_laws(self, x, y)

    def draw_once(self, x: Iterable[int]) -> tuple[bool, ...]:
        """Draw the answers of one session with these queries, against a threshold of 0."""
        session, answers = self.start(0), []
        for value in x:
            if not session.left:
                break
            answers.append(session.ask(int(value)))
        return tuple(answers)


class Session:
    """Queries against one noisy threshold, which stays secret. A session cannot be copied or
    stored: two copies would answer twice for one price.
    """

    __slots__ = ("__bits", "__law", "__left", "__lock", "__noisy")

    def __init__(self, answers: int, noisy: int, law: Geometric, bits: Bits) -> None:
        self.__left, self.__noisy, self.__law, self.__bits = answers, noisy, law, bits
        self.__lock = threading.Lock()

    def ask(self, value: int) -> bool:
        """Whether the value, with noise, reaches the noisy threshold."""
        exact = _check_integer(value, "value")
        with self.__lock:
            if not self.__left:
                raise refusals.SESSION_OVER()
            above = exact + self.__law.draw(self.__bits) >= self.__noisy
            self.__left -= above
            return above

    @property
    def left(self) -> int:
        """How many answers of yes are left; it follows from the answers."""
        return self.__left

    def __repr__(self) -> str:
        return f"Session(left={self.__left})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise refusals.SESSION_COPIED()


def best_share(*, answers: int = 1, monotone: bool = False) -> Fraction:
    """The share of ε for the threshold with the least variance of Z₂ − Z₁, about 1/(1 +
    (2c)^(2/3)), or c in place of 2c (Lyu, Su & Li 2017).
    """
    c = _count(answers, "answers") * (1 if monotone else 2)
    return Fraction(1 / (1 + c ** (2 / 3))).limit_denominator(max(100, c))


def textbook_accuracy(
    *, epsilon: Number, queries: int, beta: Number, sensitivity: Number = 1
) -> float:
    """8Δ·(ln k + ln(2/β))/ε, rounded up: the α of Dwork & Roth 2014, Theorem 3.24, for one yes and
    half of ε for the threshold.
    """
    e = positive(epsilon, "epsilon")
    s = positive(sensitivity, "sensitivity")
    k = _count(queries, "queries")
    b = probability(beta, "beta", zero=False)
    return evaluate(lambda: 8 * ball(s / e) * (2 * k / ball(b)).log(), "up")


def _check_integer(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise refusals.NOT_AN_INTEGER(name=name, type=type(value).__name__)
    return int(value)
