"""One local report among n that arrive in an order which tells nothing.

*Promise*   A report that keeps ε₀ by itself, among n honest and delivered ones that were shuffled,
            is dominated by the clone pair of `accounting`: a `Loss`, certified on both sides and
            composable (Feldman, McMillan & Talwar 2021, 2023). The relation is replace.
*Counts*    n counts honest, delivered reports, the own one among them: whoever is lost on the way,
            or tells the adversary what was reported, or invents a report, is not counted. The
            shuffler must not know who sent what, or must not tell.
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
from ..accounting.loss.shuffle_pair import closed_form, closed_form_limit, reachable
from ..errors import Refused
from ..exact.numbers import Number, exact, probability, text
from ..guarantees import Guarantee, Pure
from .oracle import Oracle


def shuffle(*, local: Guarantee | Oracle, n: int) -> Loss:
    """The promise of one report among n shuffled ones: of a report that keeps `local`, or of an
    oracle's.
    """
    kept = local.promise if isinstance(local, Oracle) else local
    if not isinstance(kept, Pure):
        raise Refused(
            "shuffle.local",
            f"local={local}",
            "the theorem is about reports that keep a pure ε each",
            "local=sf.Pure(1)",
        )
    if kept.relation == "add-remove":
        raise Refused(
            "shuffle.local",
            f"local={local}",
            "a report among n is replaced, not added",
            "local=sf.Pure(1)",
        )
    reachable(exact(kept.parameters["epsilon"], "epsilon"))
    return Loss(
        ((ClonePair(kept.parameters["epsilon"], count_of(n, "n")), 1),),
        relation="replace",
        unit=kept.unit,
    )


@dataclass(frozen=True, slots=True)
class Amplification:
    """What shuffling gives at one δ: the ε of a report alone; among n by certified arithmetic, and
    what it surely is not below; and by the closed form, which is None where the theorem does not
    hold.
    """

    local: Fraction
    n: int
    delta: Fraction
    epsilon: float
    epsilon_lower: float
    closed: float | None

    def __str__(self) -> str:
        beside = (
            "the closed form does not hold here"
            if self.closed is None
            else f"by the closed form {self.closed:.4g}"
        )
        return (
            f"ε = {text(self.local)} alone; among {self.n} honest, delivered, shuffled "
            f"reports ε = {self.epsilon:.4g} at δ = {text(self.delta)} "
            f"(the pair itself has no less than {self.epsilon_lower:.4g}; {beside})"
        )


def amplification(*, local: Guarantee | Oracle | Number, n: int, delta: Number) -> Amplification:
    """The certified ε among n shuffled reports at δ, with the closed form beside it."""
    kept = (
        local.promise
        if isinstance(local, Oracle)
        else local
        if isinstance(local, Guarantee)
        else Pure(local)
    )
    loss, d = shuffle(local=kept, n=n), probability(delta, "delta", zero=False)
    e = exact(kept.parameters["epsilon"], "epsilon")
    closed = None if e > Fraction(closed_form_limit(n, d)) else float(closed_form(e, n, d))
    return Amplification(
        e, n, d, min(loss.epsilon(d), kept.epsilon()), loss.epsilon_lower(d), closed
    )
