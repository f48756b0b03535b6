"""One million patients, of whom some have a disease. How well is their share known if each answers
for themselves, and how well if a hospital counts?
"""

import numpy as np

from sfumato import mechanisms as mech

n, sick = 1_000_000, 283_000
patients = np.arange(n) < sick
print(f"of {n:,} patients {sick / n:.2%} have the disease; ε = 1")

# Nobody is trusted: every patient tosses coins.
response = mech.RandomizedResponse(epsilon=1, categories=[True, False], unit="patient")
reports = response.perturb(patients)
estimate = response.estimate(reports)
low, high = estimate.interval(0.95, method="hoeffding")[0]
print(
    f"asked one by one: {reports.mean():.2%} say yes, so {estimate.frequencies[0]:.3%} "
    f"are sick, between {low:.3%} and {high:.3%}"
)
print(f"   expected before anybody was asked: ± {response.error(0.95, reports=n):.4f}")

# The hospital is trusted: one count, one noise. One patient changes it by 1.
count = mech.Laplace(sensitivity=1, epsilon=1, unit="patient")
answer = count.perturb(int(patients.sum()))
print(
    f"counted by the hospital: {answer / n:.4%}, ± {count.error(0.95) / n:.6%}, "
    f"{response.error(0.95, reports=n) * n / count.error(0.95):,.0f} times better"
)

# How much privacy would ± 1 % cost?
enough = mech.RandomizedResponse(error="0.01", reports=n)
print(
    f"± 1 % needs ε = {enough.promise.epsilon():.3f} one by one, and ε = "
    f"{mech.Laplace(sensitivity=1, error=n // 100).promise.epsilon():.6f} by the hospital"
)
