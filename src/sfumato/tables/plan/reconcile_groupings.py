"""Reconcile the noisy tables of several groupings, and read the requested ones from them.

Everything here is post-processing of noisy integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..aggregates.count_tree import Integers
from ..marginals.parts import Keys, closure
from ..marginals.reconcile import reconcile, round_together
from .plan_groupings import PlannedGroupings
from .read_results import scale_integers


def reconcile_blocks(
    workload: PlannedGroupings, noisy: Sequence[Mapping[Keys, Integers]]
) -> list[dict[Keys, Integers]]:
    """Estimate the cells of each block in each requested table, groups × cells. They are integers
    of a grid that is finer than that of the noisy ones by the power `workload.fine`.
    """
    every = closure(workload.requested)
    blocks = []
    for place, measured in enumerate(noisy):
        if workload.pooled[place] is not None:
            blocks.append(dict.fromkeys(workload.requested, measured[()]))
            continue
        cells = [
            _reconcile_cell(
                workload, place, {keys: table[..., cell] for keys, table in measured.items()}, every
            )
            for cell in range(next(iter(measured.values())).shape[-1])
        ]
        blocks.append(
            {
                keys: np.stack([tables[keys].ravel() for tables in cells], axis=1)
                for keys in workload.requested
            }
        )
    return blocks


def _reconcile_cell(
    workload: PlannedGroupings, place: int, noisy: Mapping[Keys, Integers], every: Sequence[Keys]
) -> dict[Keys, Integers]:
    """Estimate one cell of a block in all tables. Where the table by all keys is measured, only
    what the others differ from it is computed in doubles: that is noise, and no larger.
    """
    by, fine = workload.reconciliation(place), workload.fine[place]
    places = tuple(range(len(workload.domain.sizes)))
    base = noisy.get(places, np.zeros(workload.domain.sizes, dtype=np.int64))
    base = np.asarray(scale_integers(base, 1 << fine))  # a wide total by itself is an int
    bases = {
        keys: np.asarray(base.sum(axis=tuple(key for key in places if key not in keys)))
        for keys in {*every, *noisy}
    }
    apart = {
        keys: np.asarray(scale_integers(table, 1 << fine) - bases[keys])
        for keys, table in noisy.items()
    }
    moved = round_together(reconcile(apart, by, every))
    return {keys: moved[keys] + bases[keys] for keys in every}
