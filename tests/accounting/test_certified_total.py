"""The certified total of a book's records."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.accounting.certified_total import certified_total
from sfumato.guarantees.stored_guarantee import record as guarantee_record
from sfumato.mechanisms.shared.stored_mechanism import record

LAPLACE = mech.Laplace(sensitivity=1, epsilon="0.1", grid=2**-20)


def test_records_are_composed_by_their_laws() -> None:
    records = [record(LAPLACE)] * 20 + [
        record(mech.Gaussian(sensitivity=1, sigma=3).subsample("0.1")),
        guarantee_record(sf.Pure("0.2")),
    ]
    total = certified_total(records, "1e-6", fixed_beforehand=True)
    assert total.total == sf.compose(
        [(LAPLACE, 20), mech.Gaussian(sensitivity=1, sigma=3).subsample("0.1"), sf.Pure("0.2")]
    )
    assert total.epsilon_lower <= total.epsilon < 2.2
    assert "a promise" in str(total)


def test_what_cannot_be_made_again_counts_by_its_promise() -> None:
    gone = {**record(LAPLACE), "kind": "Vanished"}
    assert certified_total([gone], "1e-6").total == sf.compose([sf.Pure("0.1")])


def test_an_adaptive_book_is_labelled_so() -> None:
    total = certified_total([record(LAPLACE)], "1e-6")
    assert not total.fixed_beforehand
    assert total.label.startswith("no promise")


def test_nothing_and_what_has_no_pair_are_refused() -> None:
    with pytest.raises(sf.Refused, match=r"composition\.empty"):
        certified_total([], "1e-6")
    with pytest.raises(sf.Refused, match=r"loss\.no-pair"):
        certified_total([record(mech.DiscreteGaussian(sensitivity=1, rho=1))], "1e-6")
    with pytest.raises(sf.Refused):
        certified_total([record(LAPLACE)], 2)


def test_of_what_cannot_be_made_again_the_first_promise_with_a_pair_counts() -> None:
    gone = {**record(LAPLACE), "kind": "Vanished"}
    without, with_pair = guarantee_record(sf.ZCDP(1)), guarantee_record(sf.Pure("0.3"))
    several = {**gone, "promises": [without, with_pair]}
    assert certified_total([several], "1e-6").total == sf.compose([sf.Pure("0.3")])
    with pytest.raises(sf.Refused, match=r"loss\.no-pair"):
        certified_total([{**gone, "promises": [without]}], "1e-6")
