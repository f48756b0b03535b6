"""Many exact choices at once: one candidate from each of several groups, in one pass.

*Draw*    As in `noise.choice`: each group cuts the unit interval into the parts of its candidates,
          and the part that holds a uniform number is chosen. The cumulative law is held in whole
          numbers of 2^-50, so that the sums of one group do not round those of another. A word
          decides unless an end lies within a margin of it; then the group's own `Choice` settles
          it, with the same word and further bits.
*Proof*   docs/proofs/choice.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .bits import SYSTEM, Bits
from .choice import Choice

MARGIN = 1 << 12
"""In units of 2^-50, and one more for each candidate. Assumed: exp of a double in [−800, 0] errs by
less than 2^-42 of itself, as in `noise.choice`.
"""

MOST = 1 << 12
"""Groups in one pass: their cumulative laws stand one behind the other, and have to stay within 63
bits.
"""

_BITS = 50
_NEVER = -800.0


def choose_each(
    exponents: NDArray[np.float64],
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    exact: Callable[[int], Choice],
    bits: Bits = SYSTEM,
) -> NDArray[np.int64]:
    """Choose one candidate in each group, by P(i) ∝ size_i · e^(exponent_i); return their indices.

    Group g is from starts[g] to starts[g + 1], the last to the end; none is empty. `exponents` are
    at most 0 and right to 2^-50 of themselves; each group has one that is 0 with a size of 1 or
    more. `exact(g)` is the law of a group, on its own candidates.
    """
    counts = np.diff(starts, append=len(exponents))
    weights = np.exp(np.maximum(exponents, _NEVER))
    weights *= sizes
    weights /= np.repeat(np.add.reduceat(weights, starts), counts)
    weights *= 2.0**_BITS
    ends = np.cumsum(np.rint(weights).astype(np.int64))
    before = np.concatenate(([0], ends[starts[1:] - 1]))
    words = bits.words(len(starts))
    here = before + (words >> np.uint64(64 - _BITS)).astype(np.int64)
    margin = MARGIN + counts
    last = starts + counts - 1
    chosen: NDArray[np.int64] = np.clip(
        ends.searchsorted(here - margin, side="right"), starts, last
    )
    doubtful = chosen != np.clip(ends.searchsorted(here + 1 + margin, side="right"), starts, last)
    for group in np.flatnonzero(doubtful).tolist():
        chosen[group] = starts[group] + exact(group).settle(int(words[group]), bits)
    return chosen
