"""Two answers and their difference: the source's numbers, and what is left of them against private
answers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.differencing import count_game, differencing, sum_game, textbook_variance
from sfumato.attacks.lib.attack_result import Success
from sfumato.errors import Refused
from sfumato.guarantees.meaning.averaging_limits import within
from sfumato.mechanisms import Laplace
from sfumato.testing.seeded_bits import SeededBits

LOSSES = tuple(map(Fraction, ("1/10", "1/2", "1", "2", "5")))
OTHERS = 100


def salaries() -> dict[str, list[object]]:
    """Somebody's department: 6 039 000 with Steven, 6 020 000 without."""
    return {
        "name": ["Steven", *(f"person {i}" for i in range(OTHERS))],
        "salary": [19_000, *(60_200 for _ in range(OTHERS))],
    }


def ward() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": ["Steven", *(f"person {i}" for i in range(OTHERS))],
            "sick": [True, *(i % 3 == 0 for i in range(OTHERS))],
        }
    )


def test_S_143_Steven() -> None:
    result = sf.attacks.differencing(salaries(), {"name": "Steven"})
    assert (result.with_person, result.without, result.difference) == (6_039_000, 6_020_000, 19_000)
    assert result.sentences[0] == (
        "The sum of salary is 6 039 000, and without Steven 6 020 000. The difference is "
        "Steven's own salary: 19 000."
    )


@pytest.mark.parametrize("sick", [True, False])
def test_S_142_and_E_46_one_means_that_he_has_it(sick: bool) -> None:
    """A source has it the other way round: "if the difference is 0 then b is true"."""
    frame = ward()
    frame.loc[0, "sick"] = sick
    result = differencing(frame, {"name": "Steven"}, value=True, epsilons=(1,), trials=10)
    assert result.difference == int(sick)
    assert result.sentences[0].endswith(
        "so Steven has sick = True." if sick else "so Steven does not have sick = True."
    )


def test_S_142_the_variance() -> None:
    assert textbook_variance(1) == 4
    result = differencing(
        ward(), {"name": "Steven"}, epsilons=(2,), trials=10
    )  # ε = 1 for each answer
    assert result.guesses[0].sd ** 2 == pytest.approx(
        2 * Laplace(sensitivity=1, epsilon=1).variance
    )  # the integer law: a little less than 4


@pytest.mark.parametrize(
    "form",
    [dict, pd.DataFrame, pl.DataFrame, pa.table, lambda t: duckdb.arrow(pa.table(t))],
    ids=["dict", "pandas", "polars", "arrow", "duckdb"],
)
def test_any_table(form: Callable[[object], object]) -> None:
    assert (
        differencing(form(salaries()), {"name": "Steven"}, epsilons=(1,), trials=10).difference
        == 19_000
    )


def test_a_file(tmp_path: object) -> None:
    file = f"{tmp_path}/salaries.parquet"
    pd.DataFrame(salaries()).to_parquet(file)
    assert differencing(file, {"name": "Steven"}, epsilons=(1,), trials=10).difference == 19_000


def test_a_session_with_hardly_any_noise_tells_everything() -> None:
    """ε = 200: the noise of a count is 0 but with probability below 1e-40. So the session is asked
    the very questions of the attack.
    """
    (guess,) = differencing(ward(), {"name": "Steven"}, epsilons=(200,), trials=10).guesses
    assert guess.answers == (35, 34)


@pytest.mark.parametrize("game", [count_game, sum_game])
def test_the_promise_is_kept_and_exact_answers_break_it(
    game: Callable[..., tuple[Success, ...]],
) -> None:
    """Seeded, so the same at every run. The twin: exact answers at the bound of ε = 1 are
    caught.
    """
    exact, *private = game(LOSSES, 4000, bits=SeededBits(3))
    assert exact.rate == 1
    assert [success.holds for success in private] == [True] * 5
    assert exact.lower() > private[2].bound


def test_an_eighth_of_the_noise_would_be_caught() -> None:
    """A release that calls ε = 2 what is ε = 16 is seen: the attack finds more than e²/(1 + e²)."""
    _, result = count_game([Fraction(16)], 4000, bits=SeededBits(4))
    wrong = Success(
        against="ε = 2",
        hits=result.hits,
        trials=result.trials,
        chance=0.5,
        promise=sf.Pure(2),
        bound=float(np.e**2 / (1 + np.e**2)),
    )
    assert not wrong.holds


@pytest.mark.parametrize("epsilon", LOSSES, ids=str)
def test_the_attack_is_as_good_as_the_law_says(epsilon: Fraction) -> None:
    """P(Z₁ − Z₂ ≥ 0) by the exact law of the sum of two; 20 000 games are off by 0.02 with
    probability 2·e^(−16) < 1e-6 (Hoeffding), were they not seeded.
    """
    _, result = count_game([epsilon], 20_000, bits=SeededBits(5))
    none = within(0, 2, float(epsilon) / 2)
    assert abs(result.rate - (1 + none) / 2) < 0.02


def test_bounds_and_refusals() -> None:
    wide = differencing(
        salaries(), {"name": "Steven"}, bounds=(0, 200_000), epsilons=(1,), trials=10
    )
    narrow = differencing(salaries(), {"name": "Steven"}, epsilons=(1,), trials=10)
    assert wide.guesses[0].sd > 3 * narrow.guesses[0].sd
    with pytest.raises(Refused) as refused:
        differencing(salaries(), {"name": "Steven"}, bounds=(1, 1))
    assert refused.value.code == "attacks.bounds"


def test_a_missing_secret_is_counted_like_any_other() -> None:
    result = differencing(
        {"name": ["Steven", "Ada"], "city": [None, "Roma"]},
        {"name": "Steven"},
        epsilons=(),
        trials=10,
    )
    assert (result.with_person, result.without, result.summed) == (1, 0, False)
    assert result.sentences[0].startswith("1 person has city = None")


def test_a_missing_number_is_no_zero() -> None:
    """It was told as "his own salary: 0"."""
    table = {"name": ["Steven", "Ada", "Eva"], "salary": [None, 50_000.0, 70_000.0]}
    with pytest.raises(Refused) as refused:
        differencing(table, {"name": "Steven"}, epsilons=(), trials=10)
    assert refused.value.code == "attacks.values"
    assert differencing(table, {"name": "Ada"}, epsilons=(), trials=10).difference == 50_000


def test_bounds_are_those_of_the_numbers_that_are_there() -> None:
    """Were missing ones zeros, the range would be 70 000 wide, and so the noise."""
    some = {"name": ["Steven", "Ada", "Eva"], "salary": [None, 69_000.0, 70_000.0]}
    all_of_them = {"name": ["Ada", "Eva"], "salary": [69_000.0, 70_000.0]}
    wide, narrow = (
        differencing(table, {"name": "Ada"}, epsilons=(1,), trials=10).guesses[0].sd
        for table in (some, all_of_them)
    )
    assert wide == narrow


@pytest.mark.parametrize(
    ("values", "options", "code"),
    [
        ([1.0, float("inf")], {}, "attacks.values"),
        ([1.0, float("inf")], {"bounds": (0, 1)}, "attacks.values"),
        ([1e308, 1.5e308], {}, "attacks.values"),
        ([1.0, 2.0], {"bounds": 5}, "attacks.bounds"),
        ([1.0, 2.0], {"bounds": (1, 2, 3)}, "attacks.bounds"),
    ],
    ids=["infinite", "infinite-bounds", "sum", "one-bound", "three-bounds"],
)
def test_numbers_that_cannot_be_added_up(
    values: list[float], options: dict[str, object], code: str
) -> None:
    with pytest.raises(Refused) as refused:
        differencing(
            {"name": ["Steven", "Ada"], "x": values},
            {"name": "Steven"},
            epsilons=(),
            trials=10,
            **options,
        )
    assert refused.value.code == code


def test_numbers_and_picture() -> None:
    result = differencing(ward(), {"name": "Steven"}, epsilons=(1, 5), trials=100)
    assert result.numbers["difference"] == 1
    assert len(result.successes) == 3
    assert "Against exact answers: 100 of 100" in str(result)
    assert result.plot().axes[0].get_xticklabels()[0].get_text() == "exact answers"
    assert "<table>" in result._repr_html_()
