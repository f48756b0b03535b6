"""Reconcile the noisy tables of several groupings, and read the requested ones from them.

Everything here is post-processing of noisy integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..aggregates.count_tree import Integers
from ..marginals.parts import Keys, closure
from ..marginals.reconcile import reconcile, round_together
from .plan_groupings import Workload


def reconcile_blocks(
    workload: Workload, noisy: Sequence[Mapping[Keys, Integers]]
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
        by, step = workload.reconciliation(place), 0.5 ** workload.fine[place]
        cells = [
            round_together(
                reconcile({keys: table[..., cell] for keys, table in measured.items()}, by, every),
                step,
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
