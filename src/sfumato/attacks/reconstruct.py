"""Reconstruct a column of secrets from counts of random groups.

*Attack*   Ask how many of a random half of the people have the secret, m times. The answers are m
           linear equations in n unknown bits: solve them, round at ½. By linear programming (least
           sum of absolute errors, each bit between 0 and 1), or by least squares. (Dinur & Nissim
           2003; Dwork, McSherry & Talwar
           2007. A source takes it for record linkage, which is another attack: E-46.)
*Noise*    By least squares from noise of standard deviation s a bit is wrong with a chance of about
           Φ(−√(m − n)/(4s)): noise well below √n leaves the table open however it is made, and that
           is the fundamental law: too many answers, too accurate, destroy privacy.
*Private*  m counts at ε/m each: Laplace noise of scale m/ε, far above √n.
*Bound*    Each bit, tossed by a coin, is right with a chance of at most e^ε/(1 + e^ε), given all
           the others: two tables that differ in one bit are neighbours (`repeated_releases`,
           *Many*).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..exact.numbers import Number, positive
from ..guarantees import Guarantee, Pure
from ..noise.bits import SYSTEM, Bits
from . import attack_refusals as refusals
from .lib.attack_result import GameResult, Success, check_count, guess_bound
from .lib.attack_text import epsilon_label, per_cent
from .lib.repeated_releases import Integers, add_noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from scipy.optimize import OptimizeResult

Method = Literal["linear programming", "least squares"]
METHODS: tuple[Method, ...] = ("linear programming", "least squares")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """Counts of groups: the members of each group, the answers, and, where they are known, the true
    bits and the promise.
    """

    groups: NDArray[np.bool_]  # m × n
    values: NDArray[np.float64]  # m
    against: str = "these answers"
    truth: Integers | None = None
    promise: Guarantee | None = None
    # whether every bit was drawn by a fair coin: only then a promise says how many may come out
    # right
    tossed: bool = False

    @property
    def people(self) -> int:
        return int(self.groups.shape[1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reconstruction(GameResult):
    """The bits that fit the answers best."""

    answers: Answers
    method: Method
    estimate: NDArray[np.float64]  # before rounding

    @property
    def guess(self) -> Integers:
        """The reconstructed bits."""
        return (self.estimate >= 0.5).astype(np.int64)

    @property
    def wrong(self) -> int | None:
        """How many bits are wrong, where that is known."""
        return None if self.answers.truth is None else int((self.guess != self.answers.truth).sum())

    @property
    def numbers(self) -> dict[str, float | int]:
        m, n = self.answers.groups.shape
        return {"people": n, "answers": m} | (
            {} if self.wrong is None else {"wrong": self.wrong, "right": n - self.wrong}
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        m, n = self.answers.groups.shape
        method = f"{m} counts of random groups of {n} people, solved by {self.method}."
        if self.wrong is None:
            return (method, f"{int(self.guess.sum())} of them are said to have the secret.")
        return (
            method,
            (
                f"The secret of {n - self.wrong} of {n} people comes out right "
                f"({per_cent(1 - self.wrong / n)})."
            ),
            *self.verdicts,
        )

    def plot(self) -> Figure:
        from .plots.reconstruct_plot import draw_bits

        return draw_bits(self)


def subset_counts(
    secret: NDArray[np.generic] | Sequence[int],
    m: int | None = None,
    *,
    sd: Number = 0,
    epsilon: Number | None = None,
    tossed: bool = False,
    seed: int = 0,
    bits: Bits = SYSTEM,
) -> Answers:
    """Count m random groups (by default four for each person): exactly, with normal noise of a
    standard deviation, or privately at ε for all of them.

    `tossed=True` says that each bit of the secret was drawn by an independent fair coin. Only then
    are the rate of guessing and the limit of the guarantee known; for real people they are not.
    """
    truth = _zeros_and_ones(secret)
    if truth is None or truth.ndim != 1 or truth.size < 2:
        raise refusals.SECRET_NOT_BITS()
    many = 4 * truth.size if m is None else check_count(m, "m")
    adversary = np.random.default_rng(seed)  # groups are the attacker's own choice
    groups = adversary.random((many, truth.size)) < 0.5
    exact = groups.astype(np.int64) @ truth
    if epsilon is not None:
        e = positive(epsilon, "epsilon")
        values = add_noise(exact, epsilon=e / many, bits=bits).astype(np.float64)
        return Answers(
            groups=groups,
            values=values,
            against=epsilon_label(e),
            truth=truth,
            promise=Pure(e, relation="replace"),
            tossed=tossed,
        )
    spread = 0.0 if sd == 0 else float(positive(sd, "sd"))
    values = exact + adversary.normal(0.0, spread, many) if spread else exact.astype(np.float64)
    return Answers(
        groups=groups,
        values=values,
        against=f"noise of {spread:g}" if spread else "exact answers",
        truth=truth,
        tossed=tossed,
    )


def reconstruct(
    answers: Answers | ArrayLike,
    groups: ArrayLike | None = None,
    *,
    method: Method = "linear programming",
) -> Reconstruction:
    """Solve counts of groups for the bits: answers of `subset_counts`, or counts and the members of
    each group. For owners, on their own data.
    """
    if not isinstance(answers, Answers):
        answers = _read_answers(answers, groups)
    if method not in METHODS:
        raise refusals.UNKNOWN_METHOD(method=method, methods=" or ".join(METHODS))
    estimate = (
        _solve_linear_program(answers)
        if method == "linear programming"
        else _solve_least_squares(answers)
    )
    result = Reconstruction(answers=answers, method=method, estimate=estimate, played=())
    if result.wrong is None or answers.truth is None:
        return result
    n, promise, ones = answers.people, answers.promise, float(answers.truth.mean())
    bound = guess_bound(promise) if promise is not None and answers.tossed else None
    # by always saying what is more common
    guessing = 0.5 if answers.tossed else max(ones, 1 - ones)
    success = Success(
        against=answers.against,
        hits=n - result.wrong,
        trials=n,
        chance=guessing,
        promise=promise,
        bound=bound,
    )
    return Reconstruction(answers=answers, method=method, estimate=estimate, played=(success,))


def approximate_error(people: int, answers: int, sd: Number) -> float:
    """Approximate the share of bits that least squares gets wrong: Φ(−√(m − n)/(4s))."""
    n = check_count(people, "people")
    m = check_count(answers, "answers")
    s = float(positive(sd, "sd"))
    if m <= n:
        raise refusals.TOO_FEW_ANSWERS(answers=m, people=n, enough=4 * n)
    return 0.5 * math.erfc(math.sqrt(m - n) / (4.0 * s) / math.sqrt(2.0))


def _read_answers(values: ArrayLike, groups: ArrayLike | None) -> Answers:
    members = None if groups is None else _zeros_and_ones(groups)
    try:
        counts = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        counts = np.array(np.nan)
    if (
        members is None
        or members.ndim != 2
        or not members.size
        or counts.shape != (members.shape[0],)
        or not np.isfinite(counts).all()
    ):
        raise refusals.GROUPS_NOT_A_MATRIX()
    return Answers(groups=members.astype(bool), values=counts)


def _zeros_and_ones(values: object) -> Integers | None:
    """Convert zeros and ones to integers, or return None where there are other values. The check
    comes first, because the conversion would round.
    """
    try:
        bits = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    return (
        bits.astype(np.int64)
        if bits.dtype.kind in "biufO" and np.isin(bits, (0, 1)).all()
        else None
    )


def _solve_linear_program(answers: Answers) -> NDArray[np.float64]:
    """Minimise Σ t subject to −t ≤ A·x − y ≤ t and 0 ≤ x ≤ 1."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    m, n = answers.groups.shape
    a, unit = csr_array(answers.groups.astype(np.float64)), eye_array(m, format="csr")
    rows = vstack([hstack([a, -unit]), hstack([-a, -unit])], format="csr")
    limits = np.concatenate([answers.values, -answers.values])
    cost = np.concatenate([np.zeros(n), np.ones(m)])
    ranges = [(0, 1)] * n + [(0, None)] * m
    solve = cast("Callable[..., OptimizeResult]", linprog)  # the stubs know no sparse matrix
    solved = solve(cost, A_ub=rows, b_ub=limits, bounds=ranges, method="highs")
    return np.asarray(solved.x[:n], dtype=np.float64)


def _solve_least_squares(answers: Answers) -> NDArray[np.float64]:
    """Compute the least-squares solution of smallest norm by LSMR, which does not change the matrix
    (Fong & Saunders 2011).
    """
    from scipy.sparse.linalg import lsmr

    return np.asarray(
        lsmr(
            answers.groups.astype(np.float64),
            answers.values,
            atol=1e-12,
            btol=1e-12,
            maxiter=10 * sum(answers.groups.shape),
        )[0]
    )
