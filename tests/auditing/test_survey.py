"""The survey: nothing sound is accused, broken entries are, and (slow) what is proven comes near to
what can be.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato import mechanisms as mech
from sfumato.auditing.catalogue import CATALOGUE, EPSILONS
from sfumato.auditing.survey import SurveyRow, audit_entry, find_entries, survey
from sfumato.errors import Refused
from sfumato.guarantees import Guarantee, Pure
from sfumato.mechanisms.stated.audit_example import AuditExample, fixed

FAMILY = sum(
    len(entry.pairs(entry.build(1.0))) * sum(e <= entry.most for e in EPSILONS)
    for entry in CATALOGUE
)
"""Pairs in all: α = 10⁻⁶ is shared by them."""
EACH = math.nextafter(1 - 1e-6 / FAMILY, 1)

AT_ONCE = [entry for entry in CATALOGUE if entry.at_once]
ONE_BY_ONE = [entry for entry in CATALOGUE if not entry.at_once]


def test_a_small_survey_accuses_nobody() -> None:
    observed: list[str] = []
    rows = survey(
        ["Laplace", "local.Direct", "TopK", "Quantile"],
        samples=200,
        epsilons=(0.5, 5.0),
        begin=observed.append,
    )
    assert {row.verdict for row in rows} == {"holds"}
    assert observed == [
        "Laplace",
        "Laplace, wide",
        "Laplace, on a grid",
        "Laplace, vector",
        "TopK",
        "Quantile",
        "Quantile, replace",
        "local.Direct",
    ]
    assert all(row.proven <= row.claimed for row in rows)
    assert {row.exact for row in rows if row.name == "TopK"} == {True}
    assert {row.samples for row in rows if row.name == "Laplace"} == {2000}


class HalfPromised(mech.Laplace):
    __slots__ = ()

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return tuple(
            Pure(promise.parameters["epsilon"] / 2)
            for promise in super().promises
            if isinstance(promise, Pure)
        )


def test_a_broken_entry_is_accused() -> None:
    half = AuditExample("Laplace", lambda e: HalfPromised(sensitivity=1, epsilon=e), fixed((0, 1)))
    result = audit_entry(half, 2.0, samples=20_000, confidence=1 - 1e-9, exact=True)
    assert result.verdict == "violated"
    assert result.proven > result.claimed
    by_law = audit_entry(
        AuditExample(
            "Laplace",
            lambda e: HalfPromised(sensitivity=2, epsilon=e),
            fixed((0, 2), (2, 0)),
            at_once=False,
        ),
        1.0,
        samples=0,
        confidence=0.5,
        exact=True,
    )
    assert by_law.exact
    assert by_law.verdict == "violated"


def test_names() -> None:
    assert [entry.name for entry in find_entries(["laplace"])] == [
        "Laplace",
        "Laplace, wide",
        "Laplace, on a grid",
        "Laplace, vector",
    ]
    assert [entry.name for entry in find_entries(["Laplace, wide"])] == ["Laplace, wide"]
    assert len(find_entries([])) == len(CATALOGUE)
    with pytest.raises(Refused, match=r"audit\.mechanism"):
        find_entries(["Laplac"])


@pytest.mark.parametrize(
    ("names", "level"),
    [
        (["Laplace"], 7.0),
        (["Laplace"], float("nan")),
        (["Laplace"], -1.0),
        (["Gibbs, in μ"], 6.0),
        ([], 0.0),
    ],
)
def test_a_level_at_which_nothing_is_audited_is_refused(names: list[str], level: float) -> None:
    with pytest.raises(Refused, match=r"audit\.epsilon"):
        survey(names, samples=40, epsilons=(level,))


def test_gibbs_is_made_for_small_levels_only() -> None:
    result = survey(["Gibbs"], samples=40)
    assert {row.epsilon for row in result if row.name == "Gibbs"} == {0.1, 0.5, 1.0}
    in_mu = [row for row in result if row.name == "Gibbs, in μ"]
    assert {row.epsilon for row in in_mu} == set(EPSILONS)
    assert all(row.measure == "μ" and row.exact and row.verdict == "holds" for row in in_mu)
    assert all(
        0.999 * row.claimed < row.proven <= row.claimed for row in in_mu
    )  # two records at the ends attain it


def test_the_shares_of_alpha_add_up_to_no_more_than_alpha() -> None:
    entries = find_entries(["Laplace, wide", "local.Direct"])
    rows = survey(["Laplace, wide", "local.Direct"], samples=40, confidence=0.999999)
    shares = [1 - Fraction(audit.confidence) for row in rows for audit in row.audits]
    assert (
        len(shares)
        == sum(len(entry.pairs(entry.build(e))) for entry in entries for e in EPSILONS)
        == 50
    )
    assert sum(shares) <= 1 - Fraction(0.999999)
    assert sum(shares) > Fraction(1, 10**6) * Fraction(999, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("entry", AT_ONCE, ids=lambda entry: entry.name)
def test_a_million_draws(entry: AuditExample, epsilon: float) -> None:
    """False alarm: 10⁻⁶ in the whole family that something sound is refuted. What is proven is at
    least 95 % of the best expected bound, or what bad luck with a chance of 10⁻⁶ leaves of it:
    bounds scatter where ε is small, and that is less than 95 % there.
    """
    if epsilon <= entry.most:
        check(audit_entry(entry, epsilon, samples=10**6, confidence=EACH, exact=False))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("entry", ONE_BY_ONE, ids=lambda entry: entry.name)
def test_a_hundred_thousand_draws(entry: AuditExample, epsilon: float) -> None:
    if epsilon <= entry.most:
        check(audit_entry(entry, epsilon, samples=10**5, confidence=EACH, exact=False))


def check(row: SurveyRow) -> None:
    assert row.verdict == "holds"
    assert row.proven <= row.claimed
    if row.expected is not None and row.sure is not None:
        assert row.sure <= row.expected
        assert row.proven >= min(0.95 * row.expected, row.sure)


@pytest.mark.parametrize(
    "name", ["Laplace", "RandomizedResponse", "local.Direct", "LaplaceThreshold"]
)
def test_what_can_be_expected_is_reached_with_fewer_draws(name: str) -> None:
    """The same check at a hundredth of the size; the twin is an audit that wastes nine tenths of
    its draws.
    """
    entry = find_entries([name])[0]
    result = audit_entry(
        entry, 5.0, samples=10_000 if entry.at_once else 1000, confidence=1 - 1e-9, exact=False
    )
    check(result)
    assert result.sure is not None
    wasteful = audit_entry(
        entry, 5.0, samples=1000 if entry.at_once else 100, confidence=1 - 1e-9, exact=False
    )
    assert wasteful.proven < result.sure
