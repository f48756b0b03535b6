"""Draw the budget of a ledger over time."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..ledger import Moment
from . import plot_refusals as refusals
from .budget_curve import Purse, budget

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def spending(moments: Sequence[Moment], *, title: str) -> Figure:
    """Draw the moments of `course(ledger)`: every nonzero number of the budget; for a Rényi curve,
    the order that is nearest its limit at the end.
    """
    if not moments:
        raise refusals.ACCOUNT_WITHOUT_ENTRIES()
    last = moments[-1]
    purses = []
    for index in last.budget.worth_showing(last.spent[""]):
        promised = np.array([float(moment.budget.vector[index]) for moment in moments])
        spent = {
            share: np.array(
                [float(m.spent[share][index]) if share in m.spent else 0.0 for m in moments]
            )
            for share in last.spent
        }
        purses.append(Purse(last.budget.vector_names[index], promised, spent.pop(""), spent))
    return budget(
        [datetime.datetime.fromisoformat(moment.when) for moment in moments], purses, title=title
    )
