"""The privacy of one local report among n shuffled reports.

*Promise*   A report that keeps ε₀ by itself, among n honest and delivered ones that were shuffled,
            is dominated by the clone pair of `accounting`: a `Loss`, certified on both sides and
            composable (Feldman, McMillan & Talwar 2021, 2023). The relation is replace.
*Counts*    n counts honest, delivered reports, including the protected one. Reports that are lost,
            disclosed to the adversary, or invented do not count. The shuffler must not know who
            sent what, or must not tell.
*Closed*    The theorem in closed form holds for fewer ε₀ and is several times larger;
            `amplification` puts it beside the certified number.
*Proof*     docs/proofs/shuffle.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..accounting.composition import count_of
from ..accounting.loss.pairs_sampled import ClonePair
from ..accounting.loss.privacy_loss import Loss
from ..accounting.loss.shuffle_pair import check_report_epsilon, closed_form, closed_form_limit
from ..exact.numbers import Number, exact, probability, text
from ..guarantees import Guarantee, Pure
from . import local_refusals as refusals
from .oracle import Oracle


def shuffle(*, local: Guarantee | Oracle, n: int) -> Loss:
    """Return the certified loss of one report among n shuffled reports; `local` is the promise of a
    report, or its oracle.
    """
    promise = local.promise if isinstance(local, Oracle) else local
    if not isinstance(promise, Pure):
        raise refusals.LOCAL_PROMISE_NOT_PURE(local=local)
    if promise.relation == "add-remove":
        raise refusals.LOCAL_PROMISE_ADD_REMOVE(local=local)
    check_report_epsilon(exact(promise.parameters["epsilon"], "epsilon"))
    return Loss(
        ((ClonePair(promise.parameters["epsilon"], count_of(n, "n")), 1),),
        relation="replace",
        unit=promise.unit,
    )


@dataclass(frozen=True, slots=True)
class Amplification:
    """The effect of shuffling at one δ: the ε of a report alone, the certified ε among n reports,
    its lower bound, and the ε of the closed form (None where the theorem does not hold).
    """

    local: Fraction
    n: int
    delta: Fraction
    epsilon: float
    epsilon_lower: float
    closed: float | None

    def __str__(self) -> str:
        closed = (
            "the closed form does not hold here"
            if self.closed is None
            else f"by the closed form {self.closed:.4g}"
        )
        return (
            f"ε = {text(self.local)} alone; among {self.n} honest, delivered, shuffled "
            f"reports ε = {self.epsilon:.4g} at δ = {text(self.delta)} "
            f"(the pair itself has no less than {self.epsilon_lower:.4g}; {closed})"
        )


def amplification(*, local: Guarantee | Oracle | Number, n: int, delta: Number) -> Amplification:
    """Compute the certified ε among n shuffled reports at δ, and that of the closed form."""
    promise = (
        local.promise
        if isinstance(local, Oracle)
        else local
        if isinstance(local, Guarantee)
        else Pure(local)
    )
    loss, d = shuffle(local=promise, n=n), probability(delta, "delta", zero=False)
    e = exact(promise.parameters["epsilon"], "epsilon")
    closed = None if e > Fraction(closed_form_limit(n, d)) else float(closed_form(e, n, d))
    return Amplification(
        e, n, d, min(loss.epsilon(d), promise.epsilon()), loss.epsilon_lower(d), closed
    )
