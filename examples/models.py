"""Fit two models of a protected table: who is a vip, and how spending depends on age. Each is paid
once from the table's budget; predictions are free.
"""

import sfumato as sf

visits = sf.protect(
    sf.samples.visits(),
    name="visits",
    unit="user_id",
    max_rows=4,
    bounds={"age": (0, 100), "spend": (0, 300)},
    keys={"city": ["Bari", "Milano", "Roma"]},
    budget=sf.Approx(5, 1e-6),
)

# what it would cost: free of charge
vips = sf.learn.AdditiveClassifier(epsilon=2)
print(vips.plan(visits, target="vip", features=["age", "spend", "city"]), "\n")

vips.fit(visits, target="vip", features=["age", "spend", "city"])
print(vips, "\n")
people = {"age": [24, 71], "spend": [15, 240], "city": ["Bari", "Roma"]}
print("chance of being a vip:", vips.predict_proba(people)[:, 1].round(2), "\n")

line = sf.learn.LinearRegression(epsilon=1).fit(visits, target="spend", features=["age"])
print(line, "\n")
print("left of the budget:", visits.remaining)
