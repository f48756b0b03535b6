"""Telemetry without watching: which features are used, how long, on which systems, and which words
crash; each installation says one perturbed thing.
"""

import json

import numpy as np

import sfumato as sf

people = np.random.default_rng(7)  # the installations' secrets, made up
n = 50_000

# 1. The three questions are public. Every installation answers one of them, drawn by lot,
#    so it spends ε of 1 in total and not 3.
features = [f"feature {i}" for i in range(40)]
asked = sf.local.Questionnaire(
    {
        "feature": sf.local.Hashing(epsilon=1, categories=features),
        "hours": sf.local.OneBit(epsilon=1, low=0, high=24),
        "battery": sf.local.Ordinal(epsilon=1, edges=range(0, 101, 10)),
    },
    how="sample",
    unit="installation",
)
question = json.dumps(asked.question)
print(
    f"one report of {asked.width + 4} bytes, {asked.promise}; standard errors known beforehand: ",
    end="",
)
print(", ".join(f"{name} {size**0.5:.3g}" for name, size in asked.variance(n).items()))

# 2. Each installation perturbs its own. (A real one runs sfumato/local/client.py; here all at
#    once.)
truth = {
    "feature": [features[i] for i in np.minimum(people.geometric(0.15, n) - 1, 39)],
    "hours": people.gamma(2.0, 1.5, n),
    "battery": np.clip(people.normal(60, 25, n), 0, 100),
}
reports = sf.local.restore(question).perturb(truth)

# 3. The collector knows the reports and nothing else.
found = asked.estimate(reports.to_bytes())
used = found["feature"].interval(0.95, simultaneous=True)
for name, share, (low, high) in list(
    zip(features, found["feature"].consistent(), used, strict=True)
)[:3]:
    print(
        f"   {name}: {share:.1%}, between {low:.1%} and {high:.1%}, all features "
        f"together; in truth {truth['feature'].count(name) / n:.1%}"
    )
low, high = found["hours"].interval(0.95)
print(
    f"   hours a day: {found['hours'].mean:.2f}, between {low:.2f} and {high:.2f}; in "
    f"truth {np.clip(truth['hours'], 0, 24).mean():.2f}"
)
first, last = found["battery"].quantile_interval(0.5)
middle, true = found["battery"].quantile(0.5), np.median(truth["battery"])
print(
    f"   the median of the batteries is in {middle}, with 95 % from {first} on and up to "
    f"{last}; in truth {true:.0f}"
)

# 4. Which words are typed before a crash? Nobody has a list of words: a prefix tree finds the
#    frequent ones, and one report is all that anybody sends.
tree = sf.local.PrefixTree(epsilon=4, length=7, unit="installation")
words = people.choice(["printer", "update", "tab", "zoom"], size=n, p=[0.4, 0.3, 0.2, 0.1])
for hit in tree.estimate(tree.perturb(words.tolist())):
    print(f"   {hit.text!r}: {hit.frequency:.1%}, between {hit.low:.1%} and {hit.high:.1%}")

# 5. Mixed on the way, so that nobody knows who sent what, a report keeps far more. Half of the
#    senders may be lost or lie: the other half is what counts.
print(sf.local.amplification(local=asked, n=n // 2, delta="1e-8"))
