"""How wide the intervals of quantiles are beside their errors: MEDIAN, QUANTILE and QUANTILES.

*Data*     Orders of 8,000 users, up to 59 each (geometric), with log-normal amounts between 0 and
           200, and six public products; made from a fixed seed.
*Release*  ε = 1, `max_rows=20`, bounds and keys declared: fresh releases of each question.
*Error*    The 95 % point of the distance from the quantile of the weighted rows, which is computed
           apart.
*Width*    The median of half the stated interval, and the share of intervals that hold.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import sfumato as sf
from telling import as_columns, as_pipes, say

USERS, MOST_ORDERS, ROWS = 8_000, 59, 20
PRODUCTS = {"phone": 0.28, "toys": 0.25, "sofa": 0.05, "book": 0.2, "pen": 0.12, "lamp": 0.1}
Doubles = NDArray[np.float64]

QUESTIONS = (
    ("SELECT MEDIAN(amount) AS q FROM orders", "q", 0.5, None),
    ("SELECT QUANTILE(amount, 0.95) AS q FROM orders", "q", 0.95, None),
    ("SELECT product, MEDIAN(amount) AS q FROM orders GROUP BY product", "q", 0.5, "sofa"),
    *(
        ("SELECT QUANTILES(amount, [0.25, 0.5, 0.75]) AS q FROM orders", f"q_{at}", at / 100, None)
        for at in (25, 50, 75)
    ),
)


def make_orders() -> pd.DataFrame:
    """Return the orders of all users."""
    random = np.random.default_rng(5)
    counts = np.minimum(1 + random.geometric(1 / 8.4, USERS), MOST_ORDERS)
    users = np.repeat(np.arange(USERS), counts)
    amounts = np.round(np.clip(random.lognormal(3.2, 0.9, len(users)), 0, 200), 2)
    products = random.choice(list(PRODUCTS), len(users), p=list(PRODUCTS.values()))
    weights = np.minimum(1.0, ROWS / np.repeat(counts, counts))
    return pd.DataFrame(
        {"user_id": users, "amount": amounts, "product": products, "weight": weights}
    )


def weighted_quantile(rows: pd.DataFrame, q: float) -> float:
    """Return the quantile of rows that count for their weights."""
    ordered = rows.sort_values("amount")
    upto = ordered["weight"].cumsum().to_numpy()
    return float(ordered["amount"].to_numpy()[np.searchsorted(upto, q * upto[-1])])


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--repeats", type=int, default=100)
    options.add_argument("--markdown", action="store_true")
    chosen = options.parse_args()
    rows = make_orders()
    table = sf.protect(
        rows.drop(columns="weight"),
        name="orders",
        unit="user_id",
        max_rows=ROWS,
        bounds={"amount": (0, 200)},
        keys={"product": sorted(PRODUCTS)},
        budget=sf.Approx(10**7, "1e-3"),
    )
    lines = [["question", "value", "error, 95 %", "half-width", "width / error", "held"]]
    for text, column, q, group in QUESTIONS:
        say(f"{text}: {column}")
        exact = weighted_quantile(rows if group is None else rows[rows["product"] == group], q)
        errors, halves, held = [], [], []
        for _ in range(chosen.repeats):
            answer = table.sql(text, epsilon=1, fresh=True)
            place = 0 if group is None else [row[0] for row in answer.rows].index(group)
            low, high = (float(end[place]) for end in answer.interval(column))
            errors.append(abs(float(answer[column][place]) - exact))
            halves.append((high - low) / 2)
            held.append(low <= exact <= high)
        error, half = float(np.quantile(errors, 0.95)), float(np.median(halves))
        call = text.removeprefix("SELECT ").partition(" AS q")[0].removeprefix("product, ")
        name = f"{call}: {q:g}" if column != "q" else f"{call}, product {group}" if group else call
        values = (exact, error, half, half / error)
        lines.append([name, *(f"{value:.3g}" for value in values), f"{np.mean(held):.0%}"])
    print(as_pipes(lines, ("question",)) if chosen.markdown else as_columns(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
