"""Publish invented rows in place of the visits of real customers, with a certificate that says how
far they are from the data.
"""

import sfumato as sf

CITIES = ["Alberobello", "Bari", "Matera", "Milano", "Napoli", "Palermo", "Roma", "Torino"]

visits = sf.protect(
    sf.samples.visits(),
    name="visits",
    unit="user_id",
    max_rows=4,
    keys={"city": CITIES},
    bounds={"age": (0, 99), "spend": (0, 50)},
    budget=3,
)

# what it would cost, and the cells in which the table is measured: free of charge
settings = {
    "columns": ["city", "age", "spend", "vip"],
    "bins": {"age": 20, "spend": 10},
    "epsilon": 1,
    "delta": 1e-9,
}
print(sf.plan_synthesis(visits, **settings))

synthetic = visits.synthesize(**settings)
print(f"\n{synthetic}\n")
print(synthetic.certificate())

# the rows answer anything, for nothing; the certificate says what to trust
rows = synthetic.to_pandas()
print("\nmean spend by city, from synthetic rows")
print(rows.groupby("city")["spend"].mean().round(1).to_string())
pair = synthetic.certificate().of("city", "spend")
print(f"error of city × spend: {pair.error:.3f}, at most {pair.high:.3f}")

# the same table again is the stored one
again = visits.synthesize(**settings)
print(f"\nagain: receipt {again.receipt.number}, spent {visits.spent}")
