"""Ten short texts and one question: which letter is the most frequent? A run of this kind is
printed in a survey; its software had a hole.

The texts are "Object A" … "Object J". Five letters are tied at ten occurrences, so the run in the
survey, which printed j beside the maximum b, shows nothing of privacy. And its probabilities were
proportional to the score itself, without the exponential: a letter that does not occur was never
chosen, at no ε.
"""

import string

import sfumato as sf
from sfumato import mechanisms as mech

texts = [f"Object {letter}" for letter in string.ascii_uppercase[:10]]
letters = string.ascii_lowercase

# A text of eight characters could hold one letter eight times: that is what replacing a text can
# change. It is known beforehand; a sensitivity found by sampling such texts (2, 3 or 4 in the
# survey) is not a bound.
limit = 8
scores = [sum(text[:limit].count(letter) for text in texts) for letter in letters]

for name, kind in (
    ("exponential", mech.Exponential),
    ("permute and flip", mech.PermuteAndFlip),
    ("noisy max", mech.NoisyMax),
):
    m = kind(sensitivity=limit, epsilon=4, candidates=letters, relation="replace", unit="text")
    if kind is mech.NoisyMax:
        print(f"{name}: {m.choose(scores)}   {m.promise}")
        continue
    chances = dict(zip(letters, m.probabilities(scores), strict=True))
    print(
        f"{name}: {m.choose(scores)}   P(j) = {chances['j']:.3f}, P(b) = "
        f"{chances['b']:.3f}, P(z) = {chances['z']:.4f}   {m.promise}"
    )

# Without the exponential: the same texts, and texts in which a "z" occurs once. Whoever sees a z
# knows which.
share = [score / sum(scores) for score in scores]
print(
    f"without exp: P(j) = {share[letters.index('j')]:.3f}, P(z) = "
    f"{share[letters.index('z')]:.4f}, at every ε"
)

# Three letters at once, for the same ε.
print(
    "three of the most frequent:",
    ", ".join(mech.TopK(k=3, sensitivity=limit, epsilon=4, candidates=letters).choose(scores)),
)
assert mech.Exponential(sensitivity=limit, epsilon=4).promise == sf.Pure(4)
