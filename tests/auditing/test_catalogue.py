"""The catalogue has everything that adds noise, at five levels and five pairs."""

from __future__ import annotations

import pytest

from sfumato import local
from sfumato import mechanisms as mech
from sfumato.auditing.catalogue import CATALOGUE, EPSILONS, Entry
from sfumato.auditing.runners import runner_of
from sfumato.guarantees import Guarantee
from sfumato.mechanisms.base import Mechanism

ABSTRACT = {local.Oracle, local.FrequencyOracle, local.NumberOracle}


def test_every_kind_is_here() -> None:
    kinds = {kind for package in (mech, local) for kind in vars(package).values() if isinstance(kind, type) and issubclass(kind, Mechanism)}
    assert {type(entry.build(1.0)) for entry in CATALOGUE} == kinds - ABSTRACT


def test_levels_and_names() -> None:
    assert EPSILONS == (0.1, 0.5, 1.0, 2.0, 5.0)
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_five_pairs_or_all_there_are(entry: Entry) -> None:
    m = entry.build(1.0)
    pairs = entry.pairs(m)
    assert len(pairs) >= 5 or entry.name == "RandomizedResponse"  # of two categories there are two
    assert len({repr(pair) for pair in pairs}) == len(pairs)
    assert isinstance(runner_of(m).claim, Guarantee)
    assert type(m).__name__ == entry.name.split(",")[0].removeprefix("local.")


def test_only_what_a_theorem_excludes_is_left_out() -> None:
    assert [entry.name for entry in CATALOGUE if entry.most < max(EPSILONS)] == ["Gibbs"]  # (ε, δ) for ε ≤ 1 only
