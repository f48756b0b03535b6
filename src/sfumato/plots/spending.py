"""From the moments of a ledger to the picture of its budget."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..accounting.coordinates import read
from ..errors import Refused
from ..exact.numbers import text
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Renyi
from ..ledger import Moment
from .budget import Purse, budget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES: dict[type[Guarantee], tuple[str, ...]] = {Pure: ("ε",), Approx: ("ε", "δ"), ZCDP: ("ρ", "δ"), GDP: ("μ²",)}
"""The numbers of a budget that add up; a Rényi curve has one for each order."""


def spending(moments: Sequence[Moment], *, title: str) -> Figure:
    """Draw what `ledger.course(led)` tells: every number of the budget that is not zero; of a curve, the order that is nearest its limit at the end."""
    if not moments:
        raise Refused("plots.empty", "spending(())", "there is nothing to draw: the account has no entry", "course(ledger)")
    last = moments[-1]
    purses = []
    for index in _shown(last):
        promised = np.array([float(read(moment.budget)[index]) for moment in moments])
        spent = {share: np.array([float(m.spent[share][index]) if share in m.spent else 0.0 for m in moments]) for share in last.spent}
        purses.append(Purse(_name(last.budget, index), promised, spent.pop(""), spent))
    return budget([datetime.datetime.fromisoformat(moment.when) for moment in moments], purses, title=title)


def _shown(last: Moment) -> list[int]:
    limits, spent = read(last.budget), last.spent[""]
    numbers = [i for i, limit in enumerate(limits) if limit]
    if not isinstance(last.budget, Renyi):
        return numbers
    nearest = max((i for i in numbers if i < len(limits) - 1), key=lambda i: spent[i] / limits[i])
    return [i for i in numbers if i in (nearest, len(limits) - 1)]


def _name(guarantee: Guarantee, index: int) -> str:
    if isinstance(guarantee, Renyi):
        return f"D at α = {text(guarantee.orders[index])}" if index < len(guarantee.orders) else "δ"
    return NAMES[type(guarantee)][index]
