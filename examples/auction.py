"""Three bids and one price: how much should a seller ask? The best price depends on every bid; the
exponential mechanism chooses a good one privately.

Bidders pay the price if they bid at least that much. One bidder moves the revenue at a price by
that price at most, so the sensitivity is the largest price: known beforehand, unlike the bids.
"""

from fractions import Fraction

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees.neighbour_relations import ADD_REMOVE

prices = [Fraction("1"), Fraction("1.01"), Fraction("3.01"), Fraction("3.02")]
bids = [Fraction("1"), Fraction("1"), Fraction("3.01")]


def revenue(bids, price):
    return price * sum(bid >= price for bid in bids)


# What a single bidder can change, by trying every auction of at most three bids: 3.02.
world = sorted(
    {auction for pair in ADD_REMOVE.pairs((Fraction(0), *prices), size=3) for auction in pair}
)
sensitivity = mech.score_sensitivity(revenue, world, prices, ADD_REMOVE.are_neighbours)
print(f"one bidder moves the revenue by at most {float(sensitivity)}")

# Revenue only grows when a bidder joins: the scores are monotone, and half the noise is enough.
m = mech.Exponential(
    sensitivity=sensitivity,
    epsilon=1,
    monotone=True,
    candidates=prices,
    relation="add-remove",
    unit="bidder",
)
scores = [revenue(bids, price) for price in prices]
for price, score, chance in zip(prices, scores, m.probabilities(scores), strict=True):
    print(
        f"   price {float(price):.2f}: revenue {float(score):.2f}, chosen with "
        f"probability {chance:.3f}"
    )
print(f"a private price: {float(m.choose(scores)):.2f}   {m.promise}")

# Three bidders leave little to be seen at ε = 1; three thousand with the same tastes leave no doubt
# which prices are bad.
crowd = [1000 * score for score in scores]
print(
    f"with three thousand bidders: {float(m.choose(crowd)):.2f}, {float(max(crowd)):.0f} "
    f"at best and at most {m.regret(0.95):.0f} less at 95 %"
)
assert m.promise <= sf.Pure(1)
