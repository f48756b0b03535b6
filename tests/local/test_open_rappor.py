"""RAPPOR for texts without a list: the promise by arithmetic, the same reports as the client's, and
texts found among many candidates, or by their letters.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.exact.balls import ball, below
from sfumato.local import OpenRappor, client, restore
from sfumato.testing import SeededBits

from .laws import largest_odds, law_of_call

SMALL = OpenRappor(f="1/2", p="1/4", q="3/4", size=4, cohorts=4, length=2, gram=1)
QUESTION = json.loads(json.dumps(SMALL.question))
TEXTS = ["ab", "ba", "a", "日", ""]


def reports(text: str, count: int, *, anew: bool = False) -> Callable[[], bytes]:
    def call() -> bytes:
        memory: dict[str, Any] = {}
        return b"".join(
            client.perturb(QUESTION, text, {} if anew else memory)[4:] for _ in range(count)
        )

    return call


def test_one_report_keeps_its_epsilon_by_arithmetic() -> None:
    """The law over all cohorts and bits, for texts that differ everywhere."""
    odds = largest_odds([law_of_call(reports(text, 1)) for text in TEXTS])
    assert odds is not None
    assert 1 < odds <= SMALL.odds == client.ODDS["rappor-text"](QUESTION, 0)
    assert below(lambda: ball(SMALL.odds), lambda: ball(SMALL.epsilon).exp())


def test_all_reports_keep_the_lifetime() -> None:
    """Two reports of one memory and of one-time bits; drawn anew they exceed it."""
    once = OpenRappor(f="1/2", size=2, cohorts=1, hashes=1)
    question = json.loads(json.dumps(once.question))
    lifetime = once.lifetime().parameters["epsilon"]

    def twice(text: str, anew: bool) -> Callable[[], bytes]:
        def call() -> bytes:
            memory: dict[str, Any] = {}
            first = client.perturb(question, text, memory)
            return first + client.perturb(question, text, {} if anew else memory)

        return call

    texts = ["a", "b", "c", "d"]
    together = largest_odds([law_of_call(twice(text, anew=False)) for text in texts])
    assert together is not None
    assert below(lambda: ball(together), lambda: ball(lifetime * (1 + Fraction(1, 10**6))).exp())
    fresh = largest_odds([law_of_call(twice(text, anew=True)) for text in texts])
    assert fresh is not None
    assert below(lambda: ball(lifetime).exp(), lambda: ball(fresh))


def test_a_claim_that_is_too_small_is_refused() -> None:
    for field in ("epsilon", "lifetime"):
        with pytest.raises(ValueError, match="tell more than it claims"):
            client.perturb({**QUESTION, field: "1/100"}, "a", {})


def test_the_bulk_reports_what_the_client_reports() -> None:
    """Bits of the true text are set with the true support, in every cohort and at every place."""
    people = SMALL.perturb(["ab"] * 40_000, bits=SeededBits(1))
    counts = SMALL.aggregate(people).counts
    p, q = float(SMALL.true_support), float(SMALL.false_support)
    for cohort in range(4):
        code = client.text_code(QUESTION, "ab", cohort % 3)
        at = set(client.positions(QUESTION, cohort, code))
        n = counts[cohort, -1]
        for bit in range(4):
            chance = p if bit in at else q
            spread = 5.5 * (chance * (1 - chance) / n) ** 0.5  # false alarm below 10⁻⁶ for all
            assert abs(counts[cohort, bit] / n - chance) < spread


def test_every_value_is_answered() -> None:
    for value in ("a", "longer than two", "\0", "\ud800", 3, None, b"a"):
        assert len(client.perturb(QUESTION, value, {})) == 4 + SMALL.width
    assert client.text_code(QUESTION, "ab", 0) != client.text_code(QUESTION, "ab", 1)
    assert client.text_code(QUESTION, "ab", 2) == client.text_code(QUESTION, "ab", 5)


def test_there_and_back() -> None:
    assert restore(json.dumps(SMALL.question)) == SMALL
    single = OpenRappor(epsilon=4, cohorts=2)
    assert restore(json.dumps(single.question)) == single


def test_frequent_texts_among_candidates() -> None:
    oracle = OpenRappor(f="1/4", p="1/4", q="3/4", size=16, cohorts=16)
    people = ["naïve"] * 12_000 + ["日本"] * 9_000 + [f"rare {i}" for i in range(9_000)]
    sent = oracle.perturb(people, bits=SeededBits(2))
    estimate = oracle.decode(sent, ["naïve", "日本", *(f"c{i}" for i in range(2000))])
    assert estimate.categories == ("naïve", "日本")
    assert estimate["naïve"] == pytest.approx(0.4, abs=0.05)


def test_texts_that_nobody_listed() -> None:
    """Letters of three places join to texts, and the texts are looked up."""
    oracle = OpenRappor(f="1/10", p="1/10", q="9/10", size=16, cohorts=32, length=3, gram=1)
    people = ["cat"] * 15_000 + ["do"] * 12_000 + ["xyz"] * 10_000
    estimate = oracle.discover(
        oracle.perturb(people, bits=SeededBits(1)), "abcdefghijklmnopqrstuvwxyz"
    )
    assert set(estimate.categories) == {"cat", "do", "xyz"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"hashes": 0, "size": None}, "local.size"),
        ({"length": 5, "gram": 2}, "local.size"),
        ({"length": 4}, "local.size"),
        ({"length": 64, "gram": 1, "cohorts": 64}, "local.size"),
        ({"size": 1}, "local.size"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refused:
        OpenRappor(f="1/2", **arguments)
    assert refused.value.code == code


def test_what_cannot_be_decoded() -> None:
    plain = OpenRappor(f="1/2", cohorts=2)
    sent = plain.perturb(["a"] * 10)
    for call in (
        lambda: plain.estimate(sent),
        lambda: plain.decode(sent, []),
        lambda: plain.discover(sent, "ab"),
        lambda: plain.decode([], ["a"]),
    ):
        with pytest.raises(Refused):
            call()
    assert plain.variance(10**6) < plain.variance(10**4)
