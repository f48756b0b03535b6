"""The client of a local survey, in one file that needs nothing but Python's standard library. Copy it as it is.

It reads a question (JSON, published by whoever asks), checks that the probabilities in it keep the ε that the question claims, and turns a value into a report:

    report = perturb(json.load(open("question.json")), "yes")

*Coins*     64 bits of `secrets`, compared with a whole number; uniform choices are `secrets.randbelow`. The probabilities in a question are such whole numbers,
            m for m/2^64. There is no other chance in this file, and no floating point in what is reported.
*Report*    version (1 byte), mark of the question (3 bytes), payload. Bits are packed with the first in the highest place, numbers are big endian.
*Memory*    A question of kind "rappor" may be asked again and again: keep the dictionary `memory` and hand it in each time. It holds what must never be drawn
            anew. While the value stays the same, all reports together keep the lifetime ε; each further value adds it once more. Nobody else may see it.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import sys
from collections.abc import Callable, MutableMapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

VERSION = 1
ONE = 1 << 64
PRIME = (1 << 31) - 1
END = "\0"

Question = dict[str, Any]
Memory = MutableMapping[str, Any]


def coin(m: int) -> bool:
    """True with probability m/2^64."""
    return secrets.randbits(64) < m


def below(limit: int) -> int:
    """A uniform number in [0, limit)."""
    return secrets.randbelow(limit)


def identity(question: Question) -> bytes:
    """A hash of the whole question."""
    return hashlib.sha256(json.dumps(question, sort_keys=True, separators=(",", ":")).encode()).digest()


def mark(question: Question) -> bytes:
    """Three bytes that tell one question from another."""
    return identity(question)[:3]


def perturb(question: Question, value: Any, memory: Memory | None = None) -> bytes:
    """The report of one value."""
    check(question)
    code = _code(question, value)
    payload = rappor(question, code, {} if memory is None else memory) if question["kind"] == "rappor" else KINDS[question["kind"]](question, code)
    return bytes([VERSION]) + mark(question) + payload


def category(question: Question, value: Any) -> int:
    """The place of a value among the categories."""
    code = next((i for i, name in enumerate(question["categories"]) if name == value and type(name) is type(value)), None)
    if code is None:
        raise ValueError("the value is none of the categories of the question")
    return code


def step(question: Question, value: Any) -> int:
    """The nearest step of the grid to a number, halves upward, between the ends."""
    nearest = math.floor(_finite(value) / Fraction(2) ** int(question["grid"]) + Fraction(1, 2))
    return min(max(nearest - int(question["first"]), 0), int(question["steps"]))


def interval(question: Question, value: Any) -> int:
    """The place of a value among ordered categories, or of a number between edges; what lies beyond counts to the first or the last."""
    if "categories" in question:
        return category(question, value)
    number, edges = _finite(value), [Fraction(edge) for edge in question["edges"]]
    return min(max(sum(edge <= number for edge in edges) - 1, 0), len(edges) - 2)


def direct(question: Question, code: int) -> bytes:
    """The truth, or any other value."""
    k = len(question["categories"])
    return _number(_response(int(question["own"]), code, k), k)


def unary(question: Question, code: int) -> bytes:
    """A bit for each value: 1 with one probability at the own value, with a smaller one elsewhere."""
    own, other = int(question["own"]), int(question["other"])
    return _pack([coin(own if i == code else other) for i in range(len(question["categories"]))])


def hashing(question: Question, code: int) -> bytes:
    """A hash function of one's own, drawn anew, and a direct answer among its few buckets."""
    g = int(question["buckets"])
    a, b = below(PRIME), below(PRIME)
    said = _response(int(question["own"]), bucket((a * code + b) % PRIME, g), g)
    return a.to_bytes(4, "big") + b.to_bytes(4, "big") + _number(said, g)


def hadamard(question: Question, code: int) -> bytes:
    """A column of the Hadamard matrix: more likely one in which the own row has +1."""
    size, row = int(question["size"]), code + 1
    column, positive = below(size), coin(int(question["own"]))
    if (_parity(row & column) == 0) != positive:
        column ^= row & -row  # one step to the column beside it that has the other sign
    return _number(column, size)


def subset(question: Question, code: int) -> bytes:
    """A set of a fixed size: the own value is in it with a larger probability, the rest of it is uniform."""
    inside = coin(int(question["own"]))
    others = [i for i in range(len(question["categories"])) if i != code]
    for i in range(int(question["size"]) - inside):
        j = i + below(len(others) - i)
        others[i], others[j] = others[j], others[i]
    chosen = {*others[: int(question["size"]) - inside], *([code] if inside else [])}
    return _pack([i in chosen for i in range(len(question["categories"]))])


def sketch(question: Question, code: int) -> bytes:
    """One of many public hash functions, and a bit for each of its buckets."""
    rows, size = int(question["rows"]), int(question["size"])
    row = below(rows)
    place = bucket(row_hash(question["seed"], row, code), size)
    own, other = int(question["own"]), int(question["other"])
    return _number(row, rows) + _pack([coin(own if i == place else other) for i in range(size)])


def hadamard_sketch(question: Question, code: int) -> bytes:
    """One of many public hash functions, and one sign of the Hadamard transform of the own bucket, true or not."""
    rows, size = int(question["rows"]), int(question["size"])
    row, column = below(rows), below(size)
    negative = _parity(bucket(row_hash(question["seed"], row, code), size) & column) == 1
    said = negative if coin(int(question["own"])) else not negative
    return _number(row, rows) + _number(2 * column + said, 2 * size)


def rappor(question: Question, code: int, memory: Memory) -> bytes:
    """Bits of the value, perturbed once and remembered; each report perturbs what is remembered again."""
    cohorts, size = int(question["cohorts"]), int(question["size"])
    kept = memory.setdefault(identity(question).hex(), {"cohort": below(cohorts), "values": {}})
    if str(code) not in kept["values"]:
        true, keep = set(positions(question, kept["cohort"], code)), int(question["keep"])
        kept["values"][str(code)] = [int(coin(keep if i in true else ONE - keep)) for i in range(size)]
    own, other = int(question["own"]), int(question["other"])
    return _number(kept["cohort"], cohorts) + _pack([coin(own if bit else other) for bit in kept["values"][str(code)]])


def one_bit(question: Question, code: int) -> bytes:
    """A bit that is 1 the more often the larger the number is."""
    return bytes([coin(int(question["least"]) + code * int(question["step"]))])


def window(question: Question, code: int) -> bytes:
    """A cell: more likely one in the window of the own place."""
    steps, wide = int(question["steps"]), int(question["window"])
    if coin(int(question["own"])):
        return _number(code + below(wide), steps + wide)
    other = below(steps)
    return _number(other + wide * (other >= code), steps + wide)


def prefix(question: Question, text: str) -> bytes:
    """How far the text is looked at is drawn; so much of it is hashed and answered as in `hashing`."""
    level = below(int(question["levels"]))
    return _number(level, int(question["levels"])) + hashing(question, fingerprint(question, text[: (level + 1) * int(question["step"])]))


def several(question: Question, codes: dict[str, Any]) -> bytes:
    """All questions, or one of them by lot, with zeros up to the length of the longest."""
    parts = [(name, question["parts"][name]) for name in question["names"]]
    if question["how"] == "split":
        return b"".join(KINDS[part["kind"]](part, codes[name]) for name, part in parts)
    number = below(len(parts))
    name, part = parts[number]
    return _number(number, len(parts)) + KINDS[part["kind"]](part, codes[name]).ljust(int(question["length"]), bytes(1))


def each(question: Question, value: Any) -> dict[str, Any]:
    """The same of every question, of values by name."""
    return {name: _code(part, value[name]) for name, part in question["parts"].items()}


def filled(question: Question, value: Any) -> str:
    """A text of characters of the alphabet, cut or filled with the end sign to its full length."""
    letters, length = question["alphabet"], int(question["levels"]) * int(question["step"])
    if not isinstance(value, str) or any(letter not in letters for letter in value):
        raise ValueError("the value is no text of the alphabet of the question")
    return value[:length].ljust(length, END)


def fingerprint(question: Question, text: str) -> int:
    """A text as a number below 2^31 − 1: a public hash, the same for all."""
    return int.from_bytes(hashlib.sha256(f"{question['seed']}:{text}".encode()).digest()[:16], "big") % PRIME


CODES: dict[str, Callable[[Question, Any], Any]] = {
    "one-bit": step,
    "piecewise": step,
    "ordinal": interval,
    "prefix": filled,
    "several": each,
}
"""How a value becomes what is perturbed, where it is not one of some categories."""

KINDS: dict[str, Callable[[Question, Any], bytes]] = {
    "direct": direct,
    "unary": unary,
    "hashing": hashing,
    "hadamard": hadamard,
    "subset": subset,
    "sketch": sketch,
    "hadamard-sketch": hadamard_sketch,
    "one-bit": one_bit,
    "piecewise": window,
    "ordinal": window,
    "prefix": prefix,
    "several": several,
}
"""What a client can answer; "rappor" besides, which needs a memory."""


def _code(question: Question, value: Any) -> Any:
    found: Callable[[Question, Any], Any] = CODES.get(question["kind"], category)
    return found(question, value)


def positions(question: Question, cohort: int, code: int) -> list[int]:
    """The bits of a value in a cohort: its own one, or where the public hash functions of the cohort put it."""
    hashes, size = int(question["hashes"]), int(question["size"])
    return [bucket(row_hash(question["seed"], cohort * hashes + i, code), size) for i in range(hashes)] if hashes else [code]


def bucket(number: int, buckets: int) -> int:
    """A number in [0, 2^31 − 1) as one of so many buckets, as equal as can be."""
    return number * buckets >> 31


def row_hash(seed: str, row: int, code: int) -> int:
    """A polynomial of degree two modulo 2^31 − 1; its coefficients are uniform digits of SHA-256 of the public seed and the row."""
    found: list[int] = []
    turn = 0
    while len(found) < 3:
        digest = hashlib.sha256(f"{seed}:{row}:{turn}".encode()).digest()
        numbers = [int.from_bytes(digest[i : i + 4], "big") >> 1 for i in range(0, 32, 4)]
        found += [number for number in numbers if number != PRIME]
        turn += 1
    return ((found[0] * code + found[1]) * code + found[2]) % PRIME


def _response(own: int, code: int, k: int) -> int:
    if coin(own):
        return code
    other = below(k - 1)
    return other + (other >= code)


def _finite(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("the value is not a finite number")
    return Fraction(float(value))


def _parity(number: int) -> int:
    return number.bit_count() & 1


def _number(number: int, limit: int) -> bytes:
    return number.to_bytes(max(1, ((limit - 1).bit_length() + 7) // 8), "big")


def _pack(bits: list[bool]) -> bytes:
    size = (len(bits) + 7) // 8
    return (int("".join("1" if bit else "0" for bit in bits), 2) << (8 * size - len(bits))).to_bytes(size, "big")


def _both(odds: Fraction) -> Fraction:
    return max(odds, 1 / odds)


def _of_direct(q: Question, k: int) -> Fraction:
    return _both(Fraction(int(q["own"]) * (k - 1), ONE - int(q["own"])))


def _of_bits(own: int, other: int, places: int = 1) -> Fraction:
    return _both(Fraction(own * (ONE - other), other * (ONE - own))) ** places


def _of_subset(q: Question, k: int) -> Fraction:
    return _both(Fraction(int(q["own"]) * (k - int(q["size"])), (ONE - int(q["own"])) * int(q["size"])))


def _of_rappor(q: Question, _: int) -> Fraction:
    keep, own, other = int(q["keep"]), int(q["own"]), int(q["other"])
    one = Fraction(keep * own + (ONE - keep) * other, ONE * ONE)
    zero = Fraction(keep * other + (ONE - keep) * own, ONE * ONE)
    return _both(one * (1 - zero) / (zero * (1 - one))) ** max(1, int(q["hashes"]))


def _of_one_bit(q: Question, _: int) -> Fraction:
    least, most = int(q["least"]), int(q["least"]) + int(q["steps"]) * int(q["step"])
    return max(Fraction(most, least), Fraction(ONE - least, ONE - most)) if 0 < least <= most < ONE else Fraction(ONE**4)


def _of_window(q: Question, _: int) -> Fraction:
    return _both(Fraction(int(q["own"]) * int(q["steps"]), (ONE - int(q["own"])) * int(q["window"])))


def _of_several(q: Question, _: int) -> Fraction:
    odds = [ODDS[part["kind"]](part, len(part.get("categories", ()))) for part in q["parts"].values()]
    return math.prod(odds, start=Fraction(1)) if q["how"] == "split" else max(odds)


ODDS: dict[str, Callable[[Question, int], Fraction]] = {
    "direct": _of_direct,
    "unary": lambda q, _: _of_bits(int(q["own"]), int(q["other"])),
    "hashing": lambda q, _: _of_direct(q, int(q["buckets"])),
    "hadamard": lambda q, _: _of_direct(q, 2),
    "subset": _of_subset,
    "sketch": lambda q, _: _of_bits(int(q["own"]), int(q["other"])),
    "hadamard-sketch": lambda q, _: _of_direct(q, 2),
    "rappor": _of_rappor,
    "one-bit": _of_one_bit,
    "piecewise": _of_window,
    "ordinal": _of_window,
    "prefix": lambda q, _: _of_direct(q, int(q["buckets"])),
    "several": _of_several,
}
"""The largest ratio of the chances of one report under two values, exactly."""


LEAST = {"buckets": 2, "size": 1, "rows": 1, "cohorts": 1, "hashes": 0, "steps": 1, "window": 1, "levels": 1}
"""The least that each number may be; the most is 2^31."""

SHAPES: dict[str, Callable[[Question, int], bool]] = {
    "direct": lambda _, k: k >= 2,
    "hadamard": lambda q, k: int(q["size"]).bit_count() == 1 and k < int(q["size"]),
    "subset": lambda q, k: int(q["size"]) < k,
    "ordinal": lambda q, k: (k or len(q["edges"]) - 1) <= int(q["steps"]) + 1,
    "several": lambda q, _: sorted(q["names"]) == sorted(q["parts"]) and all(known(part) for part in q["parts"].values()),
}
"""What else has to hold of a question for its odds to be those of its law."""


def known(question: Question) -> bool:
    """Whether this is a question whose odds are known: numbers in range, probabilities between 0 and 1 (what RAPPOR remembers may be told as it is)."""
    if question.get("sfumato") != "local" or question.get("version") != VERSION or question.get("kind") not in ODDS:
        return False
    told = question["kind"] == "rappor"
    chances = [(int(question[name]), told and name != "keep") for name in ("own", "other", "keep") if name in question]
    sizes = all(least <= int(question[name]) <= 1 << 31 for name, least in LEAST.items() if name in question)
    fair = all(0 <= m <= ONE if ends else 0 < m < ONE for m, ends in chances)
    shape = SHAPES.get(question["kind"])
    return sizes and fair and (shape is None or shape(question, len(question.get("categories", ()))))


def check(question: Question) -> None:
    """Refuse a question whose probabilities keep less than it claims, whoever made it."""
    try:
        fits = known(question) and [(odds, Fraction(claim)) for odds, claim in _claims(question) if _written(claim)]
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        fits = False
    if not fits or len(fits) < len(_claims(question)):
        raise ValueError("this client does not know such a question")
    if not all(odds <= exp_down(claim) for odds, claim in fits):
        raise ValueError("the probabilities of this question tell more than it claims")


def _claims(question: Question) -> list[tuple[Fraction, Any]]:
    """Odds, and the ε that is claimed for them: of one report, and of all reports for ever."""
    one = (ODDS[question["kind"]](question, len(question.get("categories", ()))), question["epsilon"])
    if question["kind"] != "rappor":
        return [one]
    keep = int(question["keep"])
    return [one, (_of_bits(keep, ONE - keep, max(1, int(question["hashes"]))), question["lifetime"])]


def _written(claim: Any) -> bool:
    return isinstance(claim, str) and len(claim) <= 1000 and set(claim) <= set("0123456789/")


def exp_down(epsilon: Fraction) -> Fraction:
    """A number not above e^ε, and hardly below it: 50 digits, less one part in 10^45."""
    context, small = Context(prec=50), min(epsilon, Fraction(1000))
    power = context.exp(context.divide(Decimal(small.numerator), Decimal(small.denominator)))
    return Fraction(power) * (1 - Fraction(1, 10**45))


if __name__ == "__main__":  # python client.py question.json value
    with open(sys.argv[1], encoding="utf-8") as file:
        asked = json.load(file)
    sys.stdout.write(perturb(asked, float(sys.argv[2]) if "grid" in asked or "edges" in asked else sys.argv[2]).hex() + "\n")
