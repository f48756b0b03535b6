"""Do you smoke? A survey in which nobody can be caught: two coins, a spinner with five answers, and what a single answer gives away."""

from sfumato import mechanisms as mech

# Heads: the truth. Tails: whatever a second coin says.
coins = mech.RandomizedResponse.coin_toss(["smokes", "does not"], unit="student")
students = ["smokes"] * 360 + ["does not"] * 640
estimate = coins.estimate(coins.perturb(students))
low, high = estimate.interval(0.95)[0]
print(f"two coins, ε = ln 3 = {coins.promise.epsilon():.4f}: {estimate.frequencies[0]:.1%} smoke, between {low:.1%} and {high:.1%}")

print("what an answer gives away, if one in ten smokes:")
for report, truth in coins.deniability("0.1").items():
    print(f"   said {report!r}: smokes with probability {truth['smokes']:.3f}")

# More answers need more people for the same error.
often = ["never", "once", "monthly", "weekly", "daily"]
spinner = mech.RandomizedResponse(epsilon=1, categories=often, unit="student")
truth = [often[min(i // 300, 4)] for i in range(2000)]
estimate = spinner.estimate(spinner.perturb(truth))
print(f"how often, {len(often)} answers, ε = 1 (a report is true with probability {spinner.probability('daily', 'daily'):.2f}):")
for name, raw, fit in zip(often, estimate.frequencies, estimate.projected, strict=True):
    print(f"   {name:8} {raw:6.1%} as estimated, {fit:5.1%} after projection, {truth.count(name) / len(truth):5.1%} in truth")
print(f"for ± 3 % at 95 % ask {spinner.reports_for('0.03'):,} people; with two answers {mech.RandomizedResponse(epsilon=1).reports_for('0.03'):,}")
