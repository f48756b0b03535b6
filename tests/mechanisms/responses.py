"""Randomized responses of several kinds."""

from __future__ import annotations

from sfumato import mechanisms as mech

CASES = [
    mech.RandomizedResponse(epsilon=1, categories=["yes", "no"]),
    mech.RandomizedResponse.coin_toss(),
    mech.RandomizedResponse(keep="1/3", categories=[0, 1]),
    mech.RandomizedResponse(epsilon="1/10", categories="abc"),
    mech.RandomizedResponse(keep="1/2", categories=["a", "b", "c", "d"]),
    mech.RandomizedResponse(epsilon=8, categories=range(5)),
]
