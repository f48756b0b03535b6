"""Stable transformations of the data before a release.

*Stable*      g is c-stable if |g(D) ⊕ g(D')| ≤ c·|D ⊕ D'| for all datasets, ⊕ the symmetric
              difference (McSherry 2009, PINQ).
*Statement*   A release that keeps a promise about its own input keeps, after g, the group promise
              for c about g's input: neighbours are one step apart, their images at most c steps,
              and the promise about c steps is the one about groups of c.
*Relation*    Steps are counted by the same relation on both sides: that of the guarantee.
*Chains*      g₁ then g₂ is c₁·c₂-stable.
"""

from __future__ import annotations

from ..exact.numbers import is_whole
from ..guarantees import Guarantee
from . import accounting_refusals as refusals

STABILITY: dict[str, int] = {"filter": 1, "map": 1, "group-by": 2}
"""The stability of common transformations of multisets under add-remove. Group-by makes one record
per group: adding or removing a record changes its group's record, so one is removed and one added.
"""


def stable(guarantee: Guarantee, c: int) -> Guarantee:
    """Return the guarantee of a release about the input of a c-stable transformation before it."""
    if not is_whole(c, 0):
        raise refusals.STABILITY_NOT_WHOLE(guarantee=guarantee, factor=c)
    return guarantee.group(c) if c else 0 * guarantee
