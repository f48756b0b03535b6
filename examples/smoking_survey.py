"""Do you smoke? A survey in which nobody can be caught: two coins in each hand, a spinner with five
answers, and what a single answer gives away.
"""

import json

import sfumato as sf
from sfumato.local import client

# The question is published: anyone may read it, and check what it promises.
coins = sf.local.Direct.coin_toss(["smokes", "does not"], unit="student")
question = json.dumps(coins.question)

# Each student answers alone, with a client of one file. Heads: the truth. Tails: whatever a second
# coin says. Only the reports leave.
students = ["smokes"] * 360 + ["does not"] * 640
reports = [client.perturb(json.loads(question), student) for student in students]

estimate = sf.local.restore(question).estimate(reports)
low, high = estimate.interval(0.95)[0]
print(f"two coins, ε = ln 3 = {coins.promise.epsilon():.4f}, {len(reports[0])} bytes a report")
print(f"   {estimate['smokes']:.1%} smoke, with 95 % between {low:.1%} and {high:.1%}")

print("what an answer gives away, if one in ten smokes:")
for report, truth in coins.response.deniability("0.1").items():
    print(f"   said {report!r}: smokes with probability {truth['smokes']:.3f}")

# Ten students who want to be many: what they can do at most, and what nobody can prevent.
down, up = coins.influence(10, 1000)
print(f"ten invented reports among a thousand move the share by {down:+.1%} to {up:+.1%} at most")

# More answers need more people for the same error.
often = ["never", "once", "monthly", "weekly", "daily"]
spinner = sf.local.Direct(epsilon=1, categories=often, unit="student")
truth = [often[min(i // 300, 4)] for i in range(2000)]
estimate = spinner.estimate(spinner.perturb(truth))
print(
    f"how often, {len(often)} answers, ε = 1 (a report is true with probability "
    f"{float(spinner.true_support):.2f}):"
)
for name, raw, fit in zip(often, estimate.frequencies, estimate.consistent(), strict=True):
    print(
        f"   {name:8} {raw:6.1%} as estimated, {fit:5.1%} made consistent, "
        f"{truth.count(name) / len(truth):5.1%} in truth"
    )
print(
    f"for ± 3 % at 95 % ask {spinner.response.reports_for('0.03'):,} people; with two "
    f"answers {sf.local.Direct(epsilon=1).response.reports_for('0.03'):,}"
)

# A trusted mixer between students and collector: the same reports, a much smaller ε.
print(sf.local.amplification(local=spinner, n=len(truth), delta="1e-6"))
