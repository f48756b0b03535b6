"""Categories: names of any kind, found as they are and given back as they were."""

from __future__ import annotations

import numpy as np

from sfumato import mechanisms as mech
from sfumato.testing.seeded_bits import TapeBits


def test_categories_of_any_kind() -> None:
    mixed = mech.RandomizedResponse(keep="0.999999", categories=[(1, 2), "x", None, 3.5])
    assert mixed.perturb((1, 2), bits=TapeBits([0])) == (1, 2), (
        "a tuple that is a category is one value"
    )
    assert mixed.perturb([(1, 2), None], bits=TapeBits([0, 0])) == [(1, 2), None]
    assert mixed.perturb(np.array([3.5, 3.5]), bits=TapeBits([0, 0])).tolist() == [3.5, 3.5]
    flags = mech.RandomizedResponse(epsilon=50, categories=[False, True])
    assert flags.perturb(np.array([True, False]), bits=TapeBits([0, 0])).dtype == np.bool_
    zero_bytes = mech.RandomizedResponse(epsilon=50, categories=["a", "a\0"])
    assert zero_bytes.perturb(["a\0"], bits=TapeBits([0])) == ["a\0"]
