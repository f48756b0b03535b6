"""Visits to shops in eight Italian cities: 20,000 rows about 5,000 invented customers. A formula
generates the same rows on every machine.

*Columns*  user_id int64 · city string · age int64 · spend float64, with nulls · day date32 · vip
           bool
*Shape*    Most customers have a few rows, a few have hundreds. Three cities are large and two tiny:
           one of them has a few dozen rows, the other a few. Spend is around 10 and has a long
           tail; two rows in a hundred do not have it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import name_extras

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 20_000
USERS = 5_000
CITIES = {
    "Roma": 0.34,
    "Milano": 0.26,
    "Napoli": 0.16,
    "Torino": 0.12,
    "Palermo": 0.07,
    "Bari": 0.0475,
    "Matera": 0.002,
    "Alberobello": 0.0005,
}
"""City → share of customers who live there."""

SEED = 1503
_FIRST_DAY = 20_454  # 2026-01-01, in days since 1970
_DAYS = 181


class Customers(NamedTuple):
    """The customer of each visit, and every customer's home city, age and VIP status."""

    user: NDArray[np.int64]
    home: NDArray[np.int64]
    age: NDArray[np.int64]
    vip: NDArray[np.bool_]


@name_extras
@lru_cache(maxsize=1)
def visits() -> pa.Table:
    """Return the table, a `pyarrow.Table`."""
    import pyarrow as pa

    uniform = Uniform(SEED)
    user, home, age, vip = customers(uniform)
    away = uniform(ROWS) < 0.1
    city = np.where(away, _city(uniform(ROWS)), home[user])
    bell = sum(uniform(ROWS) for _ in range(12)) - 6.0  # nearly normal, from sums alone
    spend = np.round(10 * np.exp(0.8 * bell) * np.where(vip[user], 2.0, 1.0), 2)
    return pa.table(
        {
            "user_id": 100_000 + user,
            "city": pa.array(np.array(list(CITIES), dtype=object)[city], type=pa.string()),
            "age": age[user],
            "spend": pa.array(spend, mask=uniform(ROWS) < 0.02),
            "day": pa.array(
                _FIRST_DAY + np.floor(_DAYS * uniform(ROWS)).astype(np.int32), type=pa.int32()
            ).cast(pa.date32()),
            "vip": vip[user],
        }
    )


def customers(uniform: Uniform) -> Customers:
    """Generate the customers from the first numbers of a generator."""
    user = np.concatenate(
        [np.arange(USERS), np.floor(USERS * uniform(ROWS - USERS) ** 2).astype(np.int64)]
    )  # everybody once, the first ones often
    user = user[np.argsort(uniform(ROWS), kind="stable")]
    return Customers(
        user,
        _city(uniform(USERS)),
        (16 + 70 * uniform(USERS) * uniform(USERS)).astype(np.int64),
        uniform(USERS) < 0.05,
    )


class Uniform:
    """Generates numbers in [0, 1) from PCG64's raw words, which every version of NumPy draws
    alike.
    """

    def __init__(self, seed: int) -> None:
        self._words = np.random.PCG64(seed)

    def __call__(self, count: int) -> NDArray[np.float64]:
        words = np.asarray(self._words.random_raw(count), dtype=np.uint64)
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _city(uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    edges = np.cumsum(list(CITIES.values()))
    return np.minimum(np.searchsorted(edges, uniform, side="right"), len(CITIES) - 1)
