"""Smart meters: the electricity that five districts use, published every day, for as long as there
are meters; what a household does in any week stays hidden.
"""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

import sfumato as sf

# 1. Invented meters: 3,000 households, a reading every day, in the unit kWh. Some readings arrive
#    two days late. A real table grows by itself; here `table_on` says what it holds on a day.
chance = np.random.default_rng(4)
HOUSEHOLDS, DAYS, START = 3_000, 150, date(2026, 1, 1)
DISTRICTS = ["Centro", "Nord", "Est", "Sud", "Ovest"]
district = chance.choice(5, HOUSEHOLDS, p=[0.3, 0.25, 0.2, 0.15, 0.1])
size = chance.gamma(4.0, 2.0, HOUSEHOLDS)
day = np.tile(np.arange(DAYS), HOUSEHOLDS)
household = np.repeat(np.arange(HOUSEHOLDS), DAYS)
season = 1.3 + 0.5 * np.cos(2 * np.pi * day / 365)
used = size[household] * season * chance.gamma(6.0, 1 / 6.0, HOUSEHOLDS * DAYS)
arrives = day + 2 * (chance.random(HOUSEHOLDS * DAYS) < 0.05)


def table_on(today: int) -> pa.Table:
    """The readings that have arrived by the end of a day."""
    there = arrives < today
    return pa.table(
        {
            "household": household[there],
            "district": pa.array([DISTRICTS[i] for i in district[household[there]]]),
            "kwh": used[there],
            "day": pa.array(np.datetime64(START) + day[there], pa.date32()),
        }
    )


def open_stream(today: int) -> sf.streams.Stream:
    """What a job does every night: declare the table, and open the stream again."""
    meters = sf.protect(
        table_on(today),
        name="meters",
        unit="household",
        bounds={"kwh": (0, 40)},
        keys={"district": DISTRICTS},
        max_rows=1,
        budget=1,
        ledger="meters.ledger",
    )
    return sf.stream(
        meters,
        "SELECT district, SUM(kwh) AS kwh, AVG(kwh) AS mean FROM meters GROUP BY district",
        time="day",
        start=START,
        epsilon=1,
        delta=1e-6,
        any_periods=7,
        unit_rows=1,
        wait=2,
    )


# 2. The plan is free: cost, who is protected, and the errors of the years to come.
print(open_stream(1).plan(), "\n")

# 3. Three nights, with a new process each; the ledger knows what is published. The stream waits
#    two days for late readings.
for today in (60, 61, DAYS):
    stream = open_stream(today)
    new = stream.advance(until=START + timedelta(today))
    print(f"night {today}: {len(new) // 5} new days, spent {stream.ledger.spent.numbers_text}")

# 4. All sums follow from what is published, for nothing.
print("\n", stream.totals().latest(), "\n", sep="")
print(stream.window(30).latest(), "\n")
april = stream.between("2026-04-01", "2026-04-30")
print(april, "\n")

# 5. The truth, which only this example knows.
inside = (day >= 90) & (day < 120)
low, high = april.interval("kwh")
for (_, name), a, b in zip(april.rows, low, high, strict=True):
    exact = np.clip(used, 0, 40)[inside & (district[household] == DISTRICTS.index(name))].sum()
    print(f"{name}: {exact:,.0f} kWh in April, published [{a:,.0f}, {b:,.0f}]")

stream.window(7).plot("kwh", title="electricity of 7 days, by district").savefig("meters.png")
