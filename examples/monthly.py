"""A monthly report: a correction and a new month are paid, what did not change is free. Then one
more release of March, whose tables are estimated from both releases.
"""

import sfumato as sf

visits = sf.protect(
    sf.samples.visits(),
    name="visits",
    unit="user_id",
    max_rows=3,
    keys={"city": ["Bari", "Milano", "Roma"]},
    budget=sf.ZCDP(2),
)
questions = {
    "by city": visits.group_by("city").count(),
    "by VIP": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip",
    "in total": visits.count(),
}
months = {
    "January": "day < DATE '2026-02-01'",
    "February": "day >= DATE '2026-02-01' AND day < DATE '2026-03-01'",
    "March": "day >= DATE '2026-03-01' AND day < DATE '2026-04-01'",
}


# In February.
versions = {"January": "final", "February": "first"}
parts = {month: months[month] for month in versions}
report = sf.refresh(visits, questions, parts=parts, versions=versions)
first = report.release(promise=sf.ZCDP("1/8"))
assert first.charged == ("January", "February")

# In March: February was corrected.
versions = {"January": "final", "February": "final", "March": "first"}
report = sf.refresh(visits, questions, parts=months, versions=versions, use_stored=True)
print(report.plan(promise=sf.ZCDP("1/8")), "\n")
second = report.release(promise=sf.ZCDP("1/8"))
assert second.charged == ("February", "March")
print(second.to_pandas("by city", intervals=True), "\n")

# Again with half of the promise: stored answers about the same versions enter, free of charge.
sharper = report.release(promise=sf.ZCDP("1/16"))
print(sharper["March"]["in total"], "\n")

print(report.costs())
