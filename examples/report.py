"""A small report: visits by city and age, by city, and in total, measured together. Every table
adds up to the others, and each number has its interval.
"""

import sfumato as sf

visits = sf.protect(
    sf.samples.visits(),
    name="visits",
    unit="user_id",
    max_rows=3,
    bounds={"spend": (0, 50)},
    keys={"city": ["Bari", "Milano", "Roma"]},
    budget=sf.ZCDP(1),
)

questions = {
    "by city and age": "SELECT city, age < 40 AS young, COUNT(*) AS n FROM visits GROUP BY 1, 2",
    "by city": visits.group_by("city").count(),
    "in total": visits.count(),
}
report = sf.report(visits, questions)
print(report.plan(promise=sf.ZCDP("1/8")).explain(), "\n")

tables = report.release(promise=sf.ZCDP("1/8"))
print(tables)

total = int(tables["in total"].value())
assert total == int(tables["by city"]["n"].sum()) == int(tables["by city and age"]["n"].sum())

# The same in SQL, as one table.
print()
print(
    visits.sql(
        """SELECT city, vip, COUNT(*) AS n, AVG(spend) AS spend
           FROM visits GROUP BY ROLLUP (city, vip) ORDER BY city, vip""",
        promise=sf.ZCDP("1/8"),
    )
)
