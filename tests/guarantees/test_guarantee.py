"""What every guarantee does alike: other relations, sums with what is no guarantee."""

from __future__ import annotations

import pytest

import sfumato as sf

from ..refusing import refusing


def test_under_the_same_relation_a_promise_stays_as_it_is() -> None:
    for relation in ("replace", "add-remove"):
        promise = sf.Pure(1, relation=relation, unit="person")
        assert promise.under(relation) is promise


def test_under_replace_a_promise_about_presence_counts_twice() -> None:
    promise = sf.Pure(1, relation="add-remove", unit="person")
    assert promise.under("replace") == sf.Pure(2, relation="replace", unit="person")


def test_a_promise_is_not_moved_from_an_open_relation_nor_from_replace_to_add_remove() -> None:
    with refusing("guarantee.relation"):
        sf.Pure(1).under("replace")
    with refusing("guarantee.relation"):
        sf.Pure(1, relation="replace").under("add-remove")


def test_guarantees_add_up_by_sum_and_with_nothing_else() -> None:
    assert sum([sf.Pure(1), sf.Pure(2)]) == sf.Pure(3)
    for addend in (1, "1", 1.5, None):
        with pytest.raises(TypeError):
            addend + sf.Pure(1)
