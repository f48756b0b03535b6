"""Compute the belief after each possible answer of a small world, for its plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused

if TYPE_CHECKING:
    from ..small_world import SmallWorld


def beliefs_after(world: SmallWorld) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the answers that can occur, as text, and the belief after each."""
    from ..small_world import small_world

    names, beliefs = [], []
    for answer in range(min(world.noise), world.people + max(world.noise) + 1):
        try:
            beliefs.append(
                float(small_world(world.prior, world.noise, answer, people=world.people).posterior)
            )
        except Refused:
            continue
        names.append(str(answer).replace("-", "−"))
    return tuple(names), np.array(beliefs)
