"""The choice of an oracle: by exact variance, and said why."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.local import Direct
from sfumato.local.choose_oracle import CANDIDATES


@pytest.mark.parametrize(
    ("epsilon", "k", "name"),
    [
        (1, 2, "Direct"),
        (1, 5, "Direct"),
        (1, 100, "Subset"),
        (3, 10, "Direct"),
        (3, 1000, "Subset"),
    ],
)
def test_the_least_variance(epsilon: int, k: int, name: str) -> None:
    choice = sf.local.best(epsilon, k, 10**6)
    assert choice.compared[0].name == name
    assert choice.oracle is choice.compared[0].oracle
    assert choice.oracle.k == k
    assert choice.oracle.promise == sf.Pure(epsilon)
    variances = [row.variance for row in choice.compared]
    assert variances == sorted(variances)
    assert len(variances) == len(CANDIDATES)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "5"])
def test_subset_is_nowhere_worse(epsilon: str) -> None:
    for k in (2, 5, 6, 7, 10, 30, 100):
        choice = sf.local.best(epsilon, k)
        subset = next(row.variance for row in choice.compared if row.name == "Subset")
        assert subset <= choice.compared[0].variance * (1 + 1e-12)


def test_it_says_why() -> None:
    why = sf.local.best(epsilon=1, k=100, n=1_000_000).why
    assert why.startswith("Subset: of 6 oracles it has the least variance at ε = 1 and k = 100")
    assert "next is Unary with 1.03 times the variance" in why
    assert "the shortest report is that of Hadamard: 5 bytes" in why
    assert "Hashing" in str(sf.local.best(1, 100))


def test_long_reports_are_left_out() -> None:
    choice = sf.local.best(1, 100_000, 10**6)
    assert choice.compared[0].name == "Hashing"
    assert all(row.report_bytes <= 4096 for row in choice.compared)


def test_categories_by_name() -> None:
    choice = sf.local.best(1, categories=["yes", "no"], n=1000, unit="person")
    assert choice.oracle == Direct(epsilon=1, categories=["yes", "no"], unit="person")


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilon": 1},
        {"epsilon": 1, "k": 1},
        {"epsilon": 1, "k": 2, "categories": "ab"},
        {"epsilon": 1, "k": 5, "max_bytes": 1},
    ],
)
def test_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(Refused):
        sf.local.best(**arguments)  # type: ignore[arg-type]  # on purpose
