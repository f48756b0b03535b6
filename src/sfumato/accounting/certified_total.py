"""The certified total of the charges in a ledger: tight, and a promise only if all laws were fixed
beforehand.

*Total*     The dominating pairs of the recorded mechanisms, composed.
*Promise*   Composition theorems for laws of the loss need the laws fixed before the first answer. A
            ledger whose charges were chosen along the way has no such theorem: there the total says
            what the laws would come to, had they been fixed, and the promise is the budget, by its
            filter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import Refused
from ..exact.numbers import Number, text
from ..guarantees.guarantee import check_delta
from ..guarantees.stored_guarantee import StoredFields
from ..guarantees.stored_guarantee import restore as restore_guarantee
from ..mechanisms.shared.stored_mechanism import promises as stored_promises
from ..mechanisms.shared.stored_mechanism import restore as restore_mechanism
from . import accounting_refusals as refusals
from .compose import compose
from .loss.privacy_loss import Loss


@dataclass(frozen=True, slots=True)
class Tight:
    """The total of recorded laws at one δ, from below and from above."""

    total: Loss
    delta: Number
    fixed_beforehand: bool

    @property
    def epsilon(self) -> float:
        return self.total.epsilon(self.delta)

    @property
    def epsilon_lower(self) -> float:
        return self.total.epsilon_lower(self.delta)

    @property
    def label(self) -> str:
        """Say whether the number is a promise."""
        if self.fixed_beforehand:
            return "a promise: the laws were fixed before the first answer"
        return (
            "no promise: charges were chosen along the way, and laws of the loss have no "
            "filter; the promise is the budget"
        )

    def __str__(self) -> str:
        return (
            f"ε = {self.epsilon:.6g} (not below {self.epsilon_lower:.6g}) at δ = "
            f"{text(check_delta(self.delta))}; {self.label}"
        )


def certified_total(
    records: Iterable[StoredFields], delta: Number, *, fixed_beforehand: bool = False
) -> Tight:
    """Compose the mechanisms and guarantees that a ledger has stored."""
    check_delta(delta)
    losses = [_loss(record) for record in records]
    if not losses:
        raise refusals.LEDGER_WITHOUT_CHARGES()
    return Tight(compose(losses), delta, fixed_beforehand)


def _loss(stored: StoredFields) -> Loss:
    if stored["sfumato"] != "mechanism":
        return compose([restore_guarantee(stored)])
    mechanism = restore_mechanism(stored)
    if mechanism is not None:
        return compose([mechanism])
    refused: list[Refused] = []
    # the mechanism cannot be restored, but its stored promises still count
    for promise in stored_promises(stored):
        try:
            return compose([promise])
        except Refused as refusal:
            refused.append(refusal)
    raise refused[0]
