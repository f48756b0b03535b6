"""Clients of the local model. Every coin is followed both ways, so the law of a report is known
exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from sfumato import Pure
from sfumato.local import Direct
from sfumato.local import client as product

from ...local.laws import ONE, law_of_call
from .arithmetic import Laws
from .case import Case, case

COINS = SimpleNamespace(coin=product.coin, below=product.below)
"""All the chance that these clients have."""
Client = Callable[[Any], Any]

LN3, LN9 = Pure("1.0986122886681098"), Pure("2.1972245773362196")
"""Rounded up."""
FOUR = [(a, b) for a in range(4) for b in range(a + 1, 4)]
OTHERS = [*FOUR, (0, 4), (3, 7)]
"""With values that are not listed."""


def coin(chance: Fraction) -> bool:
    assert (chance * ONE).denominator == 1
    return bool(COINS.coin(int(chance * ONE)))


P, Q = Fraction(3, 4), Fraction(1, 4)


# One of four, by a bit for each.


def unary_with(p: Fraction) -> Client:
    return lambda value: tuple(coin(p if i == value else 1 - p) for i in range(4))


unary = unary_with(P)


def never_taken_back(value: int) -> Any:
    """Draws every bit as if it were another's; then sets the own one with p, but never clears
    it.
    """
    bits = [coin(Q) for _ in range(4)]
    if coin(P):
        bits[value] = True
    return tuple(bits)


def all_but_the_last(value: int) -> Any:
    return (*(coin(P if i == value else Q) for i in range(3)), value == 3)


# One of four, directly.


def direct(keep: Fraction) -> Client:
    def client(value: int) -> Any:
        if coin(keep):
            return value
        second = COINS.below(3)
        return second + (second >= value)

    return client


def by_remainder(value: int) -> Any:
    """One of three: the truth half of the time, else two random bits modulo 3, of which 0 comes up
    too often and the others too seldom.
    """
    return value if coin(Fraction(1, 2)) else COINS.below(4) % 3


def by_rejection(value: int) -> Any:
    return value if coin(Fraction(1, 2)) else COINS.below(3)


# A set of two of four.


def set_of_two(value: int) -> Any:
    inside = coin(P)
    others = [i for i in range(4) if i != value]
    first = others.pop(COINS.below(3))
    return frozenset({value, first} if inside else {first, others[COINS.below(2)]})


def with_replacement(value: int) -> Any:
    """Draws what else is in the set from all four: then the set is smaller where it drew its own
    value.
    """
    return frozenset({value if coin(P) else COINS.below(4), COINS.below(4)})


# Numbers, hashes, silence, and more than one report.


def one_bit(number: float) -> Any:
    """1 with probability ½ + x/4, for numbers between −1 and 1."""
    return COINS.coin(int((Fraction(1, 2) + Fraction(number) / 4) * ONE))


def one_bit_clipped(number: float) -> Any:
    return one_bit(min(max(number, -1), 1))


def chosen_hash(value: int) -> Any:
    """One of four hash functions into two buckets, but only those that put the own value into the
    first.
    """
    functions = [h for h in range(4) if (value >> (h % 2) & 1) ^ (h // 2) == 0]
    h = functions[COINS.below(len(functions))]
    return h, 0 if coin(P) else 1


def drawn_hash(value: int) -> Any:
    h = COINS.below(4)
    bucket = (value >> (h % 2) & 1) ^ (h // 2)
    return h, bucket if coin(P) else 1 - bucket


def silent(value: int) -> Any:
    """Those who are none of the four say nothing."""
    return direct(Fraction(1, 2))(value) if value < 4 else "no report"


def answered(value: int) -> Any:
    return direct(Fraction(1, 2))(value if value < 4 else COINS.below(4))


def raising(value: int) -> Any:
    """The status is part of what leaves the hand."""
    return direct(Fraction(1, 2))(value) if value < 4 else "KeyError"


def drawn_anew(value: int) -> Any:
    """Two reports, each from bits that were perturbed for it alone; the promise is about both."""
    return tuple(tuple(coin(P if i == value else Q) for i in range(2)) for _ in range(2))


def remembered(value: int) -> Any:
    """Both from the same bits, perturbed once, and once more each."""
    remaining = [coin(P if i == value else Q) for i in range(2)]
    return tuple(tuple(coin(P if bit else Q) for bit in remaining) for _ in range(2))


def whole_for_both(value: int) -> Any:
    """Two questions about one value, each at the whole ε."""
    return direct(Fraction(1, 2))(value), direct(Fraction(1, 2))(value)


def one_by_lot(value: int) -> Any:
    which = COINS.below(2)
    return which, direct(Fraction(1, 2))(value)


def row_by_value(value: int) -> Any:
    """A row of a sketch that the value chooses."""
    row = value % 2
    return row, tuple(coin(P if i == value // 2 else Q) for i in range(2))


def row_by_lot(value: int) -> Any:
    row = COINS.below(2)
    place = (value ^ value >> row) % 2
    return row, tuple(coin(P if i == place else Q) for i in range(2))


def shipped(oracle: Any) -> Client:
    """The product's own client, for any value."""
    return lambda value: product.KINDS[oracle.kind](
        oracle.question, product._code(oracle.question, value)
    )


def _laws(client: Client, claim: Any, pairs: Any = FOUR) -> Laws:
    return Laws(
        law=lambda value: law_of_call(lambda: client(value), module=COINS), pairs=pairs, claim=claim
    )


def _shipped(oracle: Any) -> Laws:
    return Laws(
        law=lambda value: law_of_call(lambda: shipped(oracle)(value)),
        pairs=[*FOUR, (0, "none of them"), (3, math.nan)],
        claim=oracle.promise,
    )


_ODDS = math.e / (1 + math.e)
_BELOW = Fraction(math.floor(_ODDS * 2**40), 2**40)
_HALF = Fraction(
    math.floor(math.sqrt(3) / (1 + math.sqrt(3)) * 2**40), 2**40
)  # its odds are √3, rounded down
_NUMBERS = [(a, b) for a in (-1, -0.5, 0, 1, 3) for b in (-1, 0, 0.5, 1, -7) if a != b]

CASES: dict[str, Case] = {
    "unary-never-cleared": case(
        "unary encoding that sets its own bit with p, but leaves it set where chance had set it",
        "draws the own bit once",
        "pure-LDP#11",
        _laws(never_taken_back, LN9),
        _laws(unary, LN9),
    ),
    "unary-epsilon-each": case(
        "unary encoding with ε for each of the two bits that differ",
        "ε/2 for each",
        "unary encoding",
        _laws(unary, LN3),
        _laws(unary_with(_HALF), LN3),
    ),
    "unary-last-bit": case(
        "perturbs all bits but the last",
        "all bits",
        "opendp#2708",
        _laws(all_but_the_last, LN9),
        _laws(unary, LN9),
    ),
    "direct-two-for-four": case(
        "keeps the truth as if there were two answers, where there are four",
        "e^ε/(e^ε + 3)",
        "direct encoding",
        _laws(direct(P), LN3),
        _laws(direct(Fraction(1, 2)), LN3),
    ),
    "direct-no-others": case(
        "keeps the truth with e^ε/(1 + e^ε) of four",
        "the client that is shipped",
        "A7",
        _laws(direct(_BELOW), Pure(1)),
        _shipped(Direct(epsilon=1, categories=range(4))),
    ),
    "remainder": case(
        "a uniform choice of three by remainder",
        "by rejection",
        "modulo bias",
        _laws(by_remainder, Pure("1.3862943611198907"), FOUR[:2]),
        _laws(by_rejection, Pure("1.3862943611198907"), FOUR[:2]),
    ),
    "set-of-any-size": case(
        "a set whose size tells whether the own value is in it",
        "a set of a fixed size",
        "subset selection",
        _laws(with_replacement, LN9),
        _laws(set_of_two, LN9),
    ),
    "number-not-clipped": case(
        "a probability ½ + x/4 for any x",
        "x is clipped first",
        "C1, C4",
        _laws(one_bit, LN3, _NUMBERS),
        _laws(one_bit_clipped, LN3, _NUMBERS),
    ),
    "hash-chosen": case(
        "looks for a hash function that suits the value",
        "draws one",
        "local hashing",
        _laws(chosen_hash, LN3),
        _laws(drawn_hash, LN3),
    ),
    "silence": case(
        "no report for a value that is not listed",
        "a uniform one of those listed",
        "D12",
        _laws(silent, LN3, OTHERS),
        _laws(answered, LN3, OTHERS),
    ),
    "local-error": case(
        "an error for a value that is not listed",
        "a uniform one of those listed",
        "D1",
        _laws(raising, LN3, OTHERS),
        _laws(answered, LN3, OTHERS),
    ),
    "no-memory": case(
        "perturbs anew for the second report",
        "perturbs what it remembers",
        "D10, RAPPOR",
        _laws(drawn_anew, LN9, [(0, 1)]),
        _laws(remembered, LN9, [(0, 1)]),
    ),
    "both-questions": case(
        "two questions at ε each, for one ε",
        "one of them by lot",
        "D10",
        _laws(whole_for_both, LN3),
        _laws(one_by_lot, LN3),
    ),
    "row-by-value": case(
        "the value chooses the row of a sketch",
        "the row is drawn",
        "count-mean sketch",
        _laws(row_by_value, LN9),
        _laws(row_by_lot, LN9),
    ),
}
