"""Mechanisms as records: every kind comes back from what is stored, or is listed with the reason;
promises stay even where the mechanism does not.
"""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees.stored_guarantee import record as guarantee_record
from sfumato.mechanisms.shared.mechanism import Mechanism
from sfumato.mechanisms.shared.stored_mechanism import promises, record, restore

STORED = Path(__file__).parent.parent / "vectors" / "stored" / "mechanisms-v1.jsonl"
SAID = {"relation": "add-remove", "unit": "patient"}

KINDS: list[Mechanism] = [
    mech.AboveThreshold(sensitivity=1, epsilon="1/3", answers=2, **SAID),
    mech.CountThreshold(
        noise=mech.Laplace(sensitivity=3, epsilon="1/3", **SAID), delta="1e-6", total=3, most=2
    ),
    mech.DiscreteGaussian(sensitivity=1, rho="1/8", **SAID),
    mech.Exponential(sensitivity=1, epsilon=1, candidates=["a", "b"], prior=["1/4", "3/4"], **SAID),
    mech.Gaussian(sensitivity=1, rho="1/8", **SAID),
    mech.Gaussian(sensitivity=2, epsilon=1, delta="1e-6", size=3),
    mech.GaussianThreshold(epsilon=1, delta="1e-6", unit="patient"),
    mech.Gibbs(epsilon=1, delta="1e-6", lipschitz=1, convexity=1, low=0, high=1, unit="patient"),
    mech.Hierarchy(edges=[0, 1, 2.5, 4], epsilon=1, **SAID),
    mech.Hierarchy(categories=["a", "b", "c"], epsilon="1/3", **SAID),
    mech.Histogram(edges=[0, 1, 2], epsilon="1/3", **SAID),
    mech.Histogram(categories=["a", "b"], epsilon=1, **SAID),
    mech.InverseSensitivity("median", epsilon=1, low=0, high=10, grid=1, unit="patient"),
    mech.Laplace(sensitivity=1, epsilon="1/3", **SAID),
    mech.Laplace(sensitivity=1, scale="1/3", grid="1/8"),
    mech.LaplaceThreshold(epsilon=1, delta="1e-6", groups=2, unit="patient"),
    mech.LinearQueries(mech.prefixes(8), epsilon=1, **SAID),
    mech.Mean(low=0, high=10, epsilon=1, **SAID),
    mech.Mean(low=0, high=10, epsilon=1, relation="replace", rows=50),
    mech.NoisyMax(sensitivity=1, epsilon=1, candidates=["a", "b"], **SAID),
    mech.OptimalSelection(epsilon=1, delta="1e-6"),
    mech.PermuteAndFlip(sensitivity=1, epsilon=1, **SAID),
    mech.PrefixSums(length=8, rho="1/8", **SAID),
    mech.ProposeTestRelease(
        "median", epsilon=1, delta="1e-6", bound=1, low=0, high=10, unit="patient"
    ),
    mech.Quantile(low=0, high=10, epsilon=1, grid=1, **SAID),
    mech.RandomizedResponse(epsilon=1, relation="replace"),
    mech.RandomizedResponse(keep="3/4", categories=["a", "b", "c"]),
    mech.RunningSums(length=8, rho="1/8", **SAID),
    mech.RunningSums(window=7, periods=3, epsilon=1, delta="1e-6", unit="patient"),
    mech.Combined(
        [
            mech.Gaussian(sensitivity=1, rho="1/800"),
            mech.Laplace(sensitivity=1, epsilon="1/3"),
            mech.OptimalSelection(epsilon=1, delta="1e-6"),
        ],
        epsilon="1/3",
        delta="1e-6",
        **SAID,
    ),
    mech.SmoothLaplace("median", epsilon=1, delta="1e-6", low=0, high=10, unit="patient"),
    mech.Staircase(sensitivity=1, epsilon=1, **SAID),
    mech.Laplace(sensitivity=1, epsilon="1/3", unit="patient").subsample("1/10"),
    mech.TopK(k=2, sensitivity=1, epsilon=1, **SAID),
    mech.WeightedQuantile(
        q="1/3", low=0, high=10, grid="1/8", weight=5 << 20, epsilon=1, shift=-7, **SAID
    ),
]
NOT_AGAIN = {kind for kind in mech.MECHANISMS if kind.why_not_restored}
"""Kinds that are not made again. Their promises are stored beside them."""


def through_text(mechanism: Mechanism) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(json.dumps(record(mechanism)))
    return stored


def test_every_kind_is_here() -> None:
    assert {type(mechanism) for mechanism in KINDS} == set(mech.MECHANISMS)
    assert {mech.LinearQueries, mech.PrefixSums} == NOT_AGAIN


@pytest.mark.parametrize("mechanism", KINDS, ids=lambda m: type(m).__name__)
def test_comes_back(mechanism: Mechanism) -> None:
    stored = through_text(mechanism)
    assert stored == record(mechanism)  # JSON changes nothing
    again = restore(stored)
    if type(mechanism) in NOT_AGAIN:
        assert again is None
        assert promises(stored) == mechanism.promises
    else:
        assert again == mechanism
        assert again.promises == mechanism.promises
        assert promises(stored) == (*mechanism.promises, *mechanism.promises)


@pytest.mark.parametrize("mechanism", KINDS, ids=lambda m: type(m).__name__)
def test_only_public_fields_are_stored(mechanism: Mechanism) -> None:
    stored = record(mechanism)
    assert set(stored) == {"sfumato", "version", "kind", "public", "promises"}
    assert set(stored["public"]) <= {f.name for f in attrs.fields(type(mechanism)) if f.repr}
    assert not [name for name in stored["public"] if name.startswith("_")]


def test_gaussian_histograms_keep_their_promises_only() -> None:
    for mechanism in (
        mech.Histogram(categories=range(200), epsilon=1, delta="1e-6", relation="replace"),
    ):
        stored = through_text(mechanism)
        if isinstance(mechanism.noise, mech.Gaussian):
            assert restore(stored) is None
        assert set(mechanism.promises) <= set(promises(stored))


def test_what_cannot_be_read_is_not_guessed() -> None:
    stored = record(mech.Laplace(sensitivity=1, epsilon=1))
    assert restore({**stored, "version": 2}) is None
    assert restore({**stored, "kind": "Laplacian"}) is None
    assert restore({**stored, "kind": "for_each"}) is None
    assert restore({**stored, "public": {"sensitivity": {"exact": "1"}}}) is None
    assert (
        restore({**stored, "public": {"sensitivity": {"exact": "1"}, "scale": {"exact": "-1"}}})
        is None
    )
    assert (
        restore({**stored, "public": {"sensitivity": {"exact": "one"}, "scale": {"exact": "1"}}})
        is None
    )
    assert (
        restore({**stored, "public": {**stored["public"], "colour": "blue"}}) is None
    )  # a field of a later version
    assert restore({**stored, "public": []}) is None
    assert promises({**stored, "kind": "gone"})[0] == sf.Pure(1)


def test_a_record_that_says_less_noise_is_priced_by_what_it_says() -> None:
    """A record stores the promise of its time. `promises` lists it beside the promise of the
    rebuilt mechanism, which never hides it.
    """
    stored = record(mech.Laplace(sensitivity=1, epsilon=1))
    better = {**stored, "promises": [guarantee_record(sf.Pure("1/2"))]}
    assert sf.Pure("1/2") in promises(better)
    assert sf.Pure(1) in promises(better)


def test_unusual_names_are_kept_as_text() -> None:
    stored = through_text(
        mech.NoisyMax(sensitivity=1, epsilon=1, candidates=[np.float64(0.5), ("a", 1), None])
    )
    assert stored["public"]["candidates"][1:] == [["a", 1], None]


def test_version_1_is_still_read() -> None:
    """Written by the first version; the file is only ever added to."""
    lines = [json.loads(line) for line in STORED.read_text(encoding="utf-8").splitlines()]
    assert {line["kind"] for line in lines} == {record(mechanism)["kind"] for mechanism in KINDS}
    for line in lines:
        again = restore(line)
        assert (again is None) == (line["kind"] in {kind.__name__ for kind in NOT_AGAIN})
        assert promises(line)
        assert Fraction(line["version"]) == 1


def test_candidates_that_are_no_json_are_stored_as_text_and_not_guessed_back() -> None:
    days = [date(2026, 1, 1), date(2026, 1, 2)]
    mechanism = mech.NoisyMax(sensitivity=1, epsilon=1, candidates=days)
    stored = through_text(mechanism)
    assert stored["public"]["candidates"] == [{"text": repr(day)} for day in days]
    assert restore(stored) is None
    assert promises(stored) == mechanism.promises


@pytest.mark.parametrize("listed", [[], None, "Pure(1)"])
def test_a_record_without_promises_is_refused(listed: object) -> None:
    stored = {**through_text(mech.Laplace(sensitivity=1, epsilon=1)), "promises": listed}
    with pytest.raises(sf.Refused) as caught:
        promises(stored)
    assert caught.value.code == "mechanism.stored"
