"""Answers made by hand, of numbers that nobody's data had a part in."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import numpy as np

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.answers import Answer, Column, Noisy, Paid, Weighing

BOUNDS = {"low": F(0), "high": F(64), "centre": F(32)}
EDGES = (F(0), F(18), F(40), F(65), F(121))
ABOUT: dict[str, Any] = {"relation": "add-remove", "unit": "user_id"}
WEIGHED = Weighing("part", rows=4, groups=4, bits=20)
RECEIPT = Paid(7, "ab" * 32, "2026-09-01T12:00:00.000+00:00")


def laplace(scale: Any = 2**20 * 50) -> mech.Laplace:
    return mech.Laplace(sensitivity=1, scale=scale, **ABOUT)


def noisy(name: str, values: Any, step: F = F(1), mechanism: Any = None) -> Noisy:
    return Noisy(name, values, step, mechanism or laplace(20))


def counted(
    values: list[int],
    *,
    keys: tuple[str, ...] = ("city",),
    rows: Any = None,
    mechanism: Any = None,
    **more: Any,
) -> Answer:
    """One count for each group."""
    rows = rows if rows is not None else tuple((f"c{i}",) for i in range(len(values)))
    pieces = (noisy("count", [[v] for v in values], F(1), mechanism), *more.pop("extra", ()))
    arguments = {
        "cost": sf.Pure("0.3", **ABOUT),
        "receipts": (RECEIPT,),
        "facts": {"dataset": "visits"},
        "weighing": WEIGHED,
    }
    return Answer(
        keys=keys,
        rows=rows,
        pieces=pieces,
        columns=(Column("n", "count", (0,), "count()"),),
        **{**arguments, **more},
    )


def visits(names: tuple[Any, ...] = ("Bari", "Roma", "Sassari"), **changes: Any) -> Answer:
    """Every kind of column, by city, with what was clipped and what was withheld."""
    rows, means = np.linspace(3000, 9000, len(names)), np.linspace(15, 30, len(names))
    fine, wide, each = F(1, 2**20), F(1, 2**31), list(zip(rows, means, strict=True))

    def weights(numbers: Any) -> list[list[int]]:
        return [[round(float(n) * 2**20)] for n in numbers]

    pieces = (
        Noisy("count", weights(rows), fine, laplace()),
        Noisy("units", weights(rows / 3), fine, laplace()),
        Noisy(
            "centred sum spend",
            [[round(float(n * (m - 32)) * 2**31)] for n, m in each],
            wide,
            laplace(2**31 * 1000),
        ),
        Noisy(
            "squares spend",
            [[round(float(n * ((m - 32) ** 2 + 100)) * 2**26)] for n, m in each],
            F(1, 2**26),
            laplace(2**26 * 900),
        ),
        Noisy(
            "sum spend",
            [[round(float(n * m) * 2**31)] for n, m in each],
            wide,
            laplace(2**31 * 2000),
        ),
        Noisy(
            "p50",
            [[20 * 2**10, 18 * 2**10, 23 * 2**10]] * len(names),
            F(1, 2**10),
            mech.Quantile(low=0, high=64, epsilon=1, grid=2**-10, **ABOUT),
        ),
        Noisy(
            "ages",
            [[round(float(n * p) * 2**20) for p in (0.1, 0.4, 0.3, 0.2)] for n in rows],
            fine,
            laplace(),
        ),
        Noisy("clipped:spend [0, 64]", [[2**20 * 3, 2**20 * 15000, 2**20 * 420]], fine, laplace()),
        Noisy("total", [[round(float(rows.sum()) * 1.05) * 2**20]], fine, laplace()),
    )
    columns = (
        Column("n", "count", (0,), "count()"),
        Column("people", "count_units", (1,), "count_units()"),
        Column("total_spend", "sum", (4,), "sum(spend)", {"low": F(0), "high": F(64)}),
        Column("mean", "mean", (2, 0), "mean(spend)", BOUNDS),
        Column("var", "variance", (3, 2, 0), "var(spend)", BOUNDS),
        Column("sd", "std", (3, 2, 0), "std(spend)", BOUNDS),
        Column(
            "p50",
            "quantile",
            (5,),
            "quantile(spend, 0.5)",
            {"low": F(0), "high": F(64), "confidence": F(9, 10)},
        ),
        Column("ages", "histogram", (6,), "histogram(age)", {}, EDGES),
    )
    arguments: dict[str, Any] = {
        "keys": ("city",),
        "rows": tuple((name,) for name in names),
        "pieces": pieces,
        "columns": columns,
        "cost": sf.Approx("0.3", "1e-9", **ABOUT),
        "promise": sf.Approx("0.3", "1e-9", **ABOUT),
        "budget": sf.Approx(1, "1e-6", **ABOUT),
        "left": sf.Approx("0.65", "9e-7", **ABOUT),
        "receipts": (RECEIPT,),
        "rules": (
            "a user_id counts for at most 4 rows",
            "spend clipped to [0, 64]",
            "rows without a user_id are left out",
        ),
        "facts": {
            "dataset": "visits",
            "unit": "user_id",
            "relation": "add-remove",
            "question": "group_by(city).aggregate(n=count(), …)",
            "declaration": {
                "name": "visits",
                "unit": ["user_id"],
                "bounds": {"spend": ["0", "64"]},
                "max_rows": 4,
            },
            "mechanisms": [],
            "versions": {"sfumato": "0.1.0", "duckdb": "1.5.6"},
        },
        "weighing": WEIGHED,
        "complete": False,
    }
    return Answer(**{**arguments, **changes})
