"""The catalogue has everything that adds noise, at five levels and five pairs."""

from __future__ import annotations

import pytest

from sfumato import mechanisms as mech
from sfumato.auditing.catalogue import CATALOGUE, EPSILONS
from sfumato.errors import Refused
from sfumato.guarantees import GDP, Guarantee
from sfumato.local.restore_question import ORACLES
from sfumato.mechanisms.stated.audit_example import AuditExample


def test_every_kind_is_here() -> None:
    assert {type(entry.build(1.0)) for entry in CATALOGUE} == {*mech.MECHANISMS, *ORACLES}


def test_levels_and_names() -> None:
    assert EPSILONS == (0.1, 0.5, 1.0, 2.0, 5.0)
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE)


NOT_MADE = {
    (
        "Gibbs",
        2.0,
    ): "its (ε, δ) is proved for ε ≤ 1, and fails beyond: 'Gibbs, in μ' is audited there",
    ("Gibbs", 5.0): "the same",
}
"""Levels at which an entry is not audited, and why. Nothing else is left out."""


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_five_pairs_at_every_level(entry: AuditExample, epsilon: float) -> None:
    """An audit looks in both directions, so a pair turned round counts once."""
    if (entry.name, epsilon) in NOT_MADE:
        assert epsilon > entry.most
        with pytest.raises(Refused, match=r"gibbs\.epsilon"):
            entry.build(epsilon)
        return
    m = entry.build(epsilon)
    pairs = entry.pairs(m)
    assert epsilon <= entry.most
    assert len({frozenset(map(repr, pair)) for pair in pairs}) == len(pairs) >= 5
    assert all(len(set(map(repr, pair))) == 2 for pair in pairs)
    assert isinstance(entry.claim(m), Guarantee)
    assert type(m).__name__ == entry.name.split(",")[0].removeprefix("local.")


def test_every_kind_is_made_at_every_level() -> None:
    built = {
        (type(entry.build(e)), e)
        for entry in CATALOGUE
        for e in EPSILONS
        if (entry.name, e) not in NOT_MADE
    }
    assert built == {(kind, e) for kind, _ in built for e in EPSILONS}


def test_gibbs_is_made_for_the_mu_that_gives_epsilon() -> None:
    entry = next(entry for entry in CATALOGUE if entry.name == "Gibbs, in μ")
    for e in EPSILONS:
        claim = entry.claim(entry.build(e))
        assert isinstance(claim, GDP)
        assert 0.999 * e < claim.epsilon("1e-8") <= e
