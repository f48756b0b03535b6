"""The client of a local survey, in one file that needs only Python's standard library. Copy it as
it is.

It reads a question (JSON, published by the collector), checks that the question's probabilities
keep the ε that it claims, and turns a value into a report:

    report = perturb(json.load(open("question.json")), "yes")

*Coins*     64 bits of `secrets`, compared with a whole number; uniform choices are
            `secrets.randbelow`. The probabilities in a question are such whole numbers, m for
            m/2^64. There is no other chance in this file, and no floating point in what is
            reported.
*Report*    version (1 byte), mark of the question (3 bytes), payload. Bits are packed with the
            first in the highest place, numbers are big endian.
*Memory*    A question of kind "rappor" or "rappor-text" may be asked again and again: keep the
            mapping `memory` and pass it each time. It holds bits that must never be drawn again,
            and is written before anything is reported; a memory that does not return what was
            written is refused. If the value never changes, all reports together keep the lifetime
            ε. If it changes, they show when, and no ε bounds that: answer a question of kind
            "panel" instead. Nobody else may see the memory.
*Panel*     A question of kind "panel" asks for a value again in each of a fixed number of waves
            (public periods, such as months): pass the wave's number, and the memory. A lot, drawn
            once whatever the values are, picks the waves in which a person reports; in the others
            `perturb` returns no bytes: send nothing. The report of a wave is remembered and
            returned again, whatever the value is by then. So all reports together keep the ε of the
            question, between any two histories of values. A person who loses the memory counts as a
            new person, and the ε of both add up.
*Budget*    `Client` answers within an account that it keeps in a file: ε of a report, reports of a
            day, ε of a day and for life. It charges the file before it looks at the value, and
            refuses with `OverBudget`; neither depends on a value. All that an account ever lets out
            keeps its ε for life between any two histories of values. A lost file is a new account.
*Fragments* A question of kind "fragments" asks for one byte of a text's UTF-8 form, drawn by lot,
            together with a mark of the whole text, or for the whole text.
*Any value* Whether a report is sent must not depend on the value: silence would tell it. So every
            value is answered, by fixed public rules. A value that is none of the categories becomes
            a uniform one of them (for "rappor" once, and remembered: all such values count as one).
            A value that is no number, NaN too, is the lower end; numbers beyond the ends, and
            infinities, are the nearer end. Letters outside the alphabet are dropped, and the end of
            a text that is too long; a value that is no text is the empty text; a part of a
            questionnaire without a value is answered like a value outside its categories. A
            question may be refused, always before the value is looked at. Your program must do the
            same: send for every value, or for none, and do not let the value decide when.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import closing, contextmanager
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeGuard

VERSION = 1
ONE = 1 << 64
PRIME = (1 << 31) - 1
END = "\0"
FAR = sys.float_info.max

Question = dict[str, Any]  # decoded JSON
Account = Question
Memory = MutableMapping[str, Any]  # JSON to be
Code = int | str | dict[str, "Code"]
"""A value as the law reads it: a place, a step, a text, or one of them for each question."""


def coin(m: int) -> bool:
    """Return True with probability m/2^64."""
    return secrets.randbits(64) < m


def below(limit: int) -> int:
    """Draw a uniform number in [0, limit)."""
    return secrets.randbelow(limit)


def identity(question: Question) -> bytes:
    """Return a hash of the whole question."""
    return hashlib.sha256(
        json.dumps(question, sort_keys=True, separators=(",", ":")).encode()
    ).digest()


def mark(question: Question) -> bytes:
    """Return three bytes of the hash, which mark every report to the question."""
    return identity(question)[:3]


def perturb(
    question: Question, value: object, memory: Memory | None = None, *, wave: int | None = None
) -> bytes:
    """Draw the report of one value; for a panel the report of this wave, or no bytes if the lot did
    not pick the wave.
    """
    check(question)
    check_wave(question, wave)
    if question["kind"] in REMEMBERED:
        code = listed(question, value) if question["kind"] == "rappor" else plain_text(value)
        payload = rappor(question, code, {} if memory is None else memory)
    elif wave is None:
        payload = KINDS[question["kind"]](question, _code(question, value))
    else:
        payload = panel(question, value, memory, wave)
    return bytes([VERSION]) + mark(question) + payload if payload else b""


def check_wave(question: Question, wave: int | None) -> None:
    """Refuse a panel without the number of its wave, and any other question with one."""
    if (wave is not None) != (question["kind"] == "panel"):
        raise ValueError("a panel needs wave=, and no other question takes it")
    if wave is not None and (type(wave) is not int or not 0 <= wave < int(question["waves"])):
        raise ValueError(f"a panel needs a wave from 0 to {int(question['waves']) - 1}")


class OverBudget(ValueError):
    """A report does not fit into the account: nothing was charged, and no value was looked at."""


class Client:
    """Answers questions within a budget that a file keeps; limits are stated when it is opened
    first, and never change.
    """

    def __init__(self, path: str | Path, **limits: object) -> None:
        """Open the account of a file. A new one needs all four limits: `epsilon_per_report`,
        `reports_per_day`, `epsilon_per_day`, `epsilon_for_life`.
        """
        self.path = Path(path).absolute()
        stated = {name: str(_limit(name, limits[name])) for name in LIMITS if name in limits}
        if set(limits) - set(LIMITS) or (not self.path.exists() and len(stated) < len(LIMITS)):
            raise ValueError(f"a new account needs the limits {', '.join(LIMITS)}")
        if len(stated) == len(LIMITS):
            with self._transaction(stated):
                pass
        with self._transaction() as account:
            if any(account["limits"][name] != value for name, value in stated.items()):
                raise ValueError("this account has other limits, and they never change")

    def perturb(
        self, question: Question, value: object, *, wave: int | None = None, day: int | None = None
    ) -> bytes:
        """Charge the account, then draw the report. `day` counts days from 1970 and is today by the
        clock; a day before the last one charged counts as that one.
        """
        check(question)
        check_wave(question, wave)
        if question["kind"] in REMEMBERED:
            raise ValueError("an account answers no question of kind rappor: no ε bounds a change")
        with self._transaction() as account:
            _charge(account, question, _today(day))
        if wave is None:
            return perturb(question, value)
        with self._transaction() as account:
            return perturb(question, value, account["memory"], wave=wave)

    def remaining(self, *, day: int | None = None) -> dict[str, Fraction]:
        """Return what is left: reports today, ε today, ε for life. For the owner of the device."""
        with self._transaction() as account:
            _turn_day(account, _today(day))
            return {
                "reports_today": Fraction(account["limits"]["reports_per_day"])
                - account["reports"],
                "epsilon_today": Fraction(account["limits"]["epsilon_per_day"])
                - Fraction(account["spent_today"]),
                "epsilon_for_life": Fraction(account["limits"]["epsilon_for_life"])
                - Fraction(account["spent"]),
            }

    @contextmanager
    def _transaction(self, limits: dict[str, str] | None = None) -> Iterator[Account]:
        """Read the account, and write it durably at the end, excluding all other processes. With
        `limits` make it if there is none.
        """
        import sqlite3

        try:
            with closing(
                sqlite3.connect(
                    f"{self.path.as_uri()}?mode={'rwc' if limits else 'rw'}",
                    uri=True,
                    isolation_level=None,
                    timeout=60,
                )
            ) as store:
                store.execute("PRAGMA synchronous = EXTRA")
                store.execute("BEGIN IMMEDIATE")
                if limits:
                    store.execute("CREATE TABLE IF NOT EXISTS account (id PRIMARY KEY, entry)")
                    store.execute(
                        "INSERT OR IGNORE INTO account VALUES (1, ?)",
                        [json.dumps({"limits": limits, **NOTHING_SPENT})],
                    )
                (row,) = store.execute("SELECT entry FROM account").fetchall()
                account = json.loads(row[0])
                yield account
                store.execute("UPDATE account SET entry = ?", [json.dumps(account)])
                store.execute("COMMIT")
        except sqlite3.Error as error:
            raise ValueError(f"no account can be kept in {self.path}: {error}") from None


LIMITS = ("epsilon_per_report", "reports_per_day", "epsilon_per_day", "epsilon_for_life")
"""The limits of an account."""

NOTHING_SPENT: Account = {
    "day": 0,
    "reports": 0,
    "spent_today": "0",
    "spent": "0",
    "paid": [],
    "memory": {},
}
"""A new account; `paid` lists the panels that are charged, once for all their waves."""


def _limit(name: str, value: object) -> Fraction:
    limit = Fraction(str(value))
    if limit <= 0 or (name == "reports_per_day" and limit.denominator > 1):
        raise ValueError(f"{name} is a positive {'whole ' * (name == LIMITS[1])}number")
    return limit


def _today(day: int | None) -> int:
    return int(time.time() // 86_400) if day is None else day


def _turn_day(account: Account, day: int) -> None:
    """Begin a new day: never an earlier one than the last, so that a clock set back gives
    nothing.
    """
    if day > account["day"]:
        account.update(day=day, reports=0, spent_today="0")


def _charge(account: Account, question: Question, day: int) -> None:
    """Charge one report, or refuse it. Neither depends on a value."""
    _turn_day(account, day)
    limits = {name: Fraction(limit) for name, limit in account["limits"].items()}
    key = identity(question).hex()
    epsilon = Fraction(0 if key in account["paid"] else question["epsilon"])
    spent = {name: Fraction(account[name]) for name in ("spent_today", "spent")}
    for name, total in (
        ("epsilon_per_report", epsilon),
        ("reports_per_day", Fraction(account["reports"] + 1)),
        ("epsilon_per_day", spent["spent_today"] + epsilon),
        ("epsilon_for_life", spent["spent"] + epsilon),
    ):
        if total > limits[name]:
            raise OverBudget(f"{name} is {limits[name]}: with this report it would be {total}")
    account["reports"] += 1
    account["paid"] += [key] if question["kind"] == "panel" and key not in account["paid"] else []
    account.update({name: str(total + epsilon) for name, total in spent.items()})


def listed(question: Question, value: object) -> int | None:
    """Return the place of a value among the categories, or None."""
    return next((i for i, name in enumerate(question["categories"]) if _same(name, value)), None)


def category(question: Question, value: object) -> int:
    """Return the place of a value among the categories. An unlisted value gets a uniform place, so
    that its law is a mean of theirs and no ratio grows.
    """
    code = listed(question, value)
    return below(len(question["categories"])) if code is None else code


def step(question: Question, value: object) -> int:
    """Round a number to the nearest step of the grid, halves upward, between the ends."""
    nearest = math.floor(number(value) / Fraction(2) ** int(question["grid"]) + Fraction(1, 2))
    return min(max(nearest - int(question["first"]), 0), int(question["steps"]))


def interval(question: Question, value: object) -> int:
    """Return the place of a value among ordered categories, or of a number between edges; a number
    beyond the edges counts to the first or the last.
    """
    if "categories" in question:
        return category(question, value)
    exact, edges = number(value), [Fraction(edge) for edge in question["edges"]]
    return min(max(sum(edge <= exact for edge in edges) - 1, 0), len(edges) - 2)


def direct(question: Question, code: int) -> bytes:
    """Report the truth, or any other value."""
    k = len(question["categories"])
    return _number(_response(int(question["own"]), code, k), k)


def unary(question: Question, code: int) -> bytes:
    """Report a bit for each category: 1 with probability p at the true one, with a smaller q
    elsewhere.
    """
    p, q = int(question["own"]), int(question["other"])
    return _pack([coin(p if i == code else q) for i in range(len(question["categories"]))])


def hashing(question: Question, code: int) -> bytes:
    """Report a fresh hash function, and a direct answer among its few buckets."""
    g = int(question["buckets"])
    a, b = below(PRIME), below(PRIME)
    answer = _response(int(question["own"]), bucket((a * code + b) % PRIME, g), g)
    return a.to_bytes(4, "big") + b.to_bytes(4, "big") + _number(answer, g)


def hadamard(question: Question, code: int) -> bytes:
    """Report a column of the Hadamard matrix, more likely one in which the value's row has +1."""
    size, row = int(question["size"]), code + 1
    column, positive = below(size), coin(int(question["own"]))
    if (_parity(row & column) == 0) != positive:
        column ^= row & -row  # one step to the next column with the opposite sign
    return _number(column, size)


def subset(question: Question, code: int) -> bytes:
    """Report a set of a fixed size: it contains the true value with a larger probability, and the
    rest of it is uniform.
    """
    inside = coin(int(question["own"]))
    others = [i for i in range(len(question["categories"])) if i != code]
    for i in range(int(question["size"]) - inside):
        j = i + below(len(others) - i)
        others[i], others[j] = others[j], others[i]
    chosen = {*others[: int(question["size"]) - inside], *([code] if inside else [])}
    return _pack([i in chosen for i in range(len(question["categories"]))])


def sketch(question: Question, code: int) -> bytes:
    """Report one of many public hash functions, and a bit for each of its buckets."""
    rows, size = int(question["rows"]), int(question["size"])
    row = below(rows)
    place = bucket(row_hash(question["seed"], row, code), size)
    p, q = int(question["own"]), int(question["other"])
    return _number(row, rows) + _pack([coin(p if i == place else q) for i in range(size)])


def hadamard_sketch(question: Question, code: int) -> bytes:
    """Report one of many public hash functions, and one sign of the Hadamard transform of the
    value's bucket, true or not.
    """
    rows, size = int(question["rows"]), int(question["size"])
    row, column = below(rows), below(size)
    negative = _parity(bucket(row_hash(question["seed"], row, code), size) & column) == 1
    sign = negative if coin(int(question["own"])) else not negative
    return _number(row, rows) + _number(2 * column + sign, 2 * size)


def rappor(question: Question, code: int | str | None, memory: Memory) -> bytes:
    """Perturb the bits of the value once and remember them; each report perturbs the remembered
    bits again. Code None stands for a value outside the categories; a text for its part that the
    cohort is about.
    """
    cohorts, size, key = int(question["cohorts"]), int(question["size"]), identity(question).hex()
    stored = memory.get(key)
    entry: Question = (
        {"cohort": below(cohorts), "values": {}}
        if stored is None
        else {**stored, "values": dict(stored["values"])}
    )
    if isinstance(code, str):
        parts = int(question["length"]) // max(1, int(question["gram"]))
        code = text_code(question, code, entry["cohort"] % (parts + 1))
    if code is None:  # one uniform place for life: drawn again, it would be a new value each time
        code = entry["unlisted"] = (
            entry["unlisted"] if "unlisted" in entry else below(len(question["categories"]))
        )
    if str(code) not in entry["values"]:
        true, keep = set(positions(question, entry["cohort"], code)), int(question["keep"])
        entry["values"][str(code)] = [
            int(coin(keep if i in true else ONE - keep)) for i in range(size)
        ]
    remember(memory, key, entry)
    q, p = int(question["own"]), int(question["other"])
    return _number(entry["cohort"], cohorts) + _pack(
        [coin(q if bit else p) for bit in entry["values"][str(code)]]
    )


def plain_text(value: object) -> str:
    """Return a text in normal form C without end signs; a value that is no text is the empty
    text.
    """
    text = unicodedata.normalize("NFC", value) if isinstance(value, str) else ""
    return text.replace(END, "").encode("utf-8", "ignore").decode()


def text_code(question: Question, text: str, level: int) -> int:
    """Return the number of the letters at a place of a text; behind the last place of the whole
    text.
    """
    gram, length = int(question["gram"]), int(question["length"])
    if gram and level < length // gram:
        text = f"{level}{END}{text.ljust(length, END)[level * gram : (level + 1) * gram]}"
    return fingerprint(question, text)


def panel(question: Question, value: object, memory: Memory | None, wave: int) -> bytes:
    """Return the single report of this wave if the lot picked the wave, else no bytes. The lot and
    the reports are drawn once, and remembered.
    """
    waves, key = int(question["waves"]), identity(question).hex()
    if memory is None:
        raise ValueError("a panel needs a memory")
    stored = memory.get(key)
    entry: Question = (
        {"waves": draw_waves(waves, int(question["reports"])), "reports": {}}
        if stored is None
        else {**stored, "reports": dict(stored["reports"])}
    )
    if wave in entry["waves"] and str(wave) not in entry["reports"]:
        entry["reports"][str(wave)] = KINDS[question["part"]["kind"]](
            question["part"], _code(question, value)
        ).hex()
    remember(memory, key, entry)
    return (
        _number(wave, waves) + bytes.fromhex(entry["reports"][str(wave)])
        if wave in entry["waves"]
        else b""
    )


def draw_waves(limit: int, size: int) -> list[int]:
    """Draw `size` different numbers in [0, limit): every set of them is equally likely."""
    places = list(range(limit))
    for i in range(size):
        j = i + below(limit - i)
        places[i], places[j] = places[j], places[i]
    return sorted(places[:size])


def remember(memory: Memory, key: str, entry: Question) -> None:
    """Write what must never be drawn again: at every report, so that a memory that cannot be
    written refuses every value alike.
    """
    memory[key] = entry
    if memory.get(key) != entry:
        raise ValueError("the memory does not return what was written: nothing was reported")


def one_bit(question: Question, code: int) -> bytes:
    """Report a bit that is 1 the more often the larger the number is."""
    return bytes([coin(int(question["least"]) + code * int(question["step"]))])


def window(question: Question, code: int) -> bytes:
    """Report a cell, more likely one in the window of the value's place."""
    steps, wide = int(question["steps"]), int(question["window"])
    if coin(int(question["own"])):
        return _number(code + below(wide), steps + wide)
    outside = below(steps)
    return _number(outside + wide * (outside >= code), steps + wide)


def prefix(question: Question, text: str) -> bytes:
    """Draw the length of a prefix; hash that prefix and answer as in `hashing`."""
    level = below(int(question["levels"]))
    return _number(level, int(question["levels"])) + hashing(
        question, fingerprint(question, text[: (level + 1) * int(question["step"])])
    )


def fragments(question: Question, text: str) -> bytes:
    """Draw a place of the text, or the end for the whole of it; answer about what is there as in
    `hashing`.
    """
    place = below(int(question["levels"]) + 1)
    return _number(place, int(question["levels"]) + 1) + hashing(
        question, fragment(question, text, place)
    )


def fragment(question: Question, text: str, place: int) -> int:
    """Return the number of a fragment: the mark of the text and the byte at this place; behind the
    last place a hash of the whole text.
    """
    whole_text = fingerprint(question, text)
    return whole_text % 256 * 256 + ord(text[place]) if place < len(text) else whole_text


def several(question: Question, codes: dict[str, Code]) -> bytes:
    """Answer all questions, or one by lot with zeros up to the length of the longest."""
    parts = [(name, question["parts"][name]) for name in question["names"]]
    if question["how"] == "split":
        return b"".join(KINDS[part["kind"]](part, codes[name]) for name, part in parts)
    number = below(len(parts))
    name, part = parts[number]
    return _number(number, len(parts)) + KINDS[part["kind"]](part, codes[name]).ljust(
        int(question["length"]), bytes(1)
    )


def codes_by_name(question: Question, value: object) -> dict[str, Code]:
    """Encode the value of every question by its name; a name without a value is encoded, too."""
    values = value if isinstance(value, Mapping) else {}
    return {name: _code(part, values.get(name)) for name, part in question["parts"].items()}


def fill_text(question: Question, value: object) -> str:
    """Drop letters outside the alphabet, then cut the text or fill it with the end sign to full
    length; a value that is no text is the empty text.
    """
    letters, length = question["alphabet"], int(question["levels"]) * int(question["step"])
    text = (
        "".join(letter for letter in value if letter in letters) if isinstance(value, str) else ""
    )
    return text[:length].ljust(length, END)


def fill_bytes(question: Question, value: object) -> str:
    """Write a text as the bytes of its UTF-8 form (NFC), each a letter below 256, filled with end
    signs. End signs and what UTF-8 cannot write are dropped, then whole characters from the end
    until it fits; a value that is no text is the empty text.
    """
    encoded = plain_text(value).encode()[: int(question["levels"])]
    while not _is_utf8(encoded):
        encoded = encoded[:-1]
    return encoded.decode("latin-1").ljust(int(question["levels"]), END)


def _is_utf8(encoded: bytes) -> bool:
    try:
        encoded.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def fingerprint(question: Question, text: str) -> int:
    """Hash a text to a number below 2^31 − 1, by a public function that all share."""
    return (
        int.from_bytes(hashlib.sha256(f"{question['seed']}:{text}".encode()).digest()[:16], "big")
        % PRIME
    )


REMEMBERED = ("rappor", "rappor-text")
"""The kinds whose reports are made of remembered bits."""

CODES: dict[str, Callable[[Question, object], Code]] = {
    "one-bit": step,
    "piecewise": step,
    "ordinal": interval,
    "prefix": fill_text,
    "fragments": fill_bytes,
    "several": codes_by_name,
    "panel": lambda question, value: _code(question["part"], value),
    "rappor-text": lambda _, value: plain_text(value),
}
"""How each kind encodes a value; all other kinds encode one of their categories."""

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
    "fragments": fragments,
    "several": several,
}
"""The kinds that this client answers without a memory; "rappor" and "panel" need one."""


def _code(question: Question, value: object) -> Code:
    encode = CODES.get(question["kind"], category)
    return encode(question, value)


def positions(question: Question, cohort: int, code: int) -> list[int]:
    """Return the bits of a value in a cohort: the bit of its code, or the bits where the public
    hash functions of the cohort put it.
    """
    hashes, size = int(question["hashes"]), int(question["size"])
    return (
        [bucket(row_hash(question["seed"], cohort * hashes + i, code), size) for i in range(hashes)]
        if hashes
        else [code]
    )


def bucket(number: int, buckets: int) -> int:
    """Map a number in [0, 2^31 − 1) to one of `buckets` buckets of nearly equal size."""
    return number * buckets >> 31


def row_hash(seed: str, row: int, code: int) -> int:
    """Hash a code by a polynomial of degree two modulo 2^31 − 1; its coefficients are uniform
    digits of SHA-256 of the public seed and the row.
    """
    terms: list[int] = []
    turn = 0
    while len(terms) < 3:
        digest = hashlib.sha256(f"{seed}:{row}:{turn}".encode()).digest()
        numbers = [int.from_bytes(digest[i : i + 4], "big") >> 1 for i in range(0, 32, 4)]
        terms += [number for number in numbers if number != PRIME]
        turn += 1
    return ((terms[0] * code + terms[1]) * code + terms[2]) % PRIME


def _response(keep: int, code: int, k: int) -> int:
    if coin(keep):
        return code
    lie = below(k - 1)
    return lie + (lie >= code)


def number(value: Any) -> Fraction:
    """Convert a value to a finite double; a value that is no number, NaN too, lies below all
    others, and infinities at the ends of the doubles.
    """
    try:
        double = float(value)
    except OverflowError:  # a whole number beyond all doubles
        double = math.inf if value > 0 else -math.inf
    except Exception:  # whatever it is, it is answered
        double = math.nan
    return Fraction(-FAR if math.isnan(double) else min(max(double, -FAR), FAR))


def _same(name: object, value: object) -> bool:
    try:
        return bool(name == value)
    except Exception:  # what cannot be compared is none of the categories
        return False


def _parity(number: int) -> int:
    return number.bit_count() & 1


def _number(number: int, limit: int) -> bytes:
    return number.to_bytes(max(1, ((limit - 1).bit_length() + 7) // 8), "big")


def _pack(bits: list[bool]) -> bytes:
    size = (len(bits) + 7) // 8
    return (
        int("".join("1" if bit else "0" for bit in bits), 2) << (8 * size - len(bits))
    ).to_bytes(size, "big")


def _both(odds: Fraction) -> Fraction:
    return max(odds, 1 / odds)


def _of_direct(q: Question, k: int) -> Fraction:
    return _both(Fraction(int(q["own"]) * (k - 1), ONE - int(q["own"])))


def _of_bits(p: int, q: int, places: int = 1) -> Fraction:
    return _both(Fraction(p * (ONE - q), q * (ONE - p))) ** places


def _of_subset(q: Question, k: int) -> Fraction:
    return _both(
        Fraction(int(q["own"]) * (k - int(q["size"])), (ONE - int(q["own"])) * int(q["size"]))
    )


def _of_rappor(q: Question, _: int) -> Fraction:
    keep, from_one, from_zero = int(q["keep"]), int(q["own"]), int(q["other"])
    true = Fraction(keep * from_one + (ONE - keep) * from_zero, ONE * ONE)
    false = Fraction(keep * from_zero + (ONE - keep) * from_one, ONE * ONE)
    return _both(true * (1 - false) / (false * (1 - true))) ** max(1, int(q["hashes"]))


def _of_one_bit(q: Question, _: int) -> Fraction:
    least, most = int(q["least"]), int(q["least"]) + int(q["steps"]) * int(q["step"])
    return (
        max(Fraction(most, least), Fraction(ONE - least, ONE - most))
        if 0 < least <= most < ONE
        else Fraction(ONE**4)
    )


def _of_window(q: Question, _: int) -> Fraction:
    return _both(
        Fraction(int(q["own"]) * int(q["steps"]), (ONE - int(q["own"])) * int(q["window"]))
    )


def _of_several(q: Question, _: int) -> Fraction:
    odds = [
        ODDS[part["kind"]](part, len(part.get("categories", ()))) for part in q["parts"].values()
    ]
    return math.prod(odds, start=Fraction(1)) if q["how"] == "split" else max(odds)


def _of_panel(q: Question, _: int) -> Fraction:
    return ODDS[q["part"]["kind"]](q["part"], len(q["part"].get("categories", ()))) ** int(
        q["reports"]
    )


ODDS: dict[str, Callable[[Question, int], Fraction]] = {
    "direct": _of_direct,
    "unary": lambda q, _: _of_bits(int(q["own"]), int(q["other"])),
    "hashing": lambda q, _: _of_direct(q, int(q["buckets"])),
    "hadamard": lambda q, _: _of_direct(q, 2),
    "subset": _of_subset,
    "sketch": lambda q, _: _of_bits(int(q["own"]), int(q["other"])),
    "hadamard-sketch": lambda q, _: _of_direct(q, 2),
    "rappor": _of_rappor,
    "rappor-text": _of_rappor,
    "one-bit": _of_one_bit,
    "piecewise": _of_window,
    "ordinal": _of_window,
    "prefix": lambda q, _: _of_direct(q, int(q["buckets"])),
    "fragments": lambda q, _: _of_direct(q, int(q["buckets"])),
    "several": _of_several,
    "panel": _of_panel,
}
"""The largest ratio of the probabilities of one report under two values, exactly; for a panel, of
all reports under two histories.
"""


RANGES = {
    "buckets": (2, 1 << 31),
    "size": (1, 1 << 25),
    "rows": (1, 1 << 31),
    "cohorts": (1, 1 << 31),
    "hashes": (0, 16),
    "steps": (1, 1 << 31),
    "window": (1, 1 << 31),
    "levels": (1, 256),
    "grid": (-1100, 1100),
    "first": (-(1 << 53), 1 << 53),
    "length": (0, 1 << 25),
    "waves": (2, 1 << 12),
    "reports": (1, 1 << 12),
    "gram": (0, 1 << 8),
}
"""The least and the largest value of each number: a collector may neither deceive a client nor keep
it busy.
"""

NEEDS = {
    "one-bit": ("grid", "first"),
    "piecewise": ("grid", "first"),
    "sketch": ("rows", "size", "seed"),
    "hadamard-sketch": ("rows", "size", "seed"),
    "rappor": ("cohorts", "size", "hashes", "seed"),
    "rappor-text": ("cohorts", "size", "hashes", "seed", "length", "gram"),
    "prefix": ("seed",),
    "fragments": ("seed", "levels"),
    "several": ("length",),
    "panel": ("waves", "reports"),
}
"""The fields that a question needs besides those that its odds are computed from."""

SHAPES: dict[str, Callable[[Question, int], bool]] = {
    "direct": lambda _, k: k >= 2,
    "hadamard": lambda q, k: int(q["size"]).bit_count() == 1 and k < int(q["size"]),
    "subset": lambda q, k: int(q["size"]) < k,
    "ordinal": lambda q, k: (
        (k if "categories" in q else _buckets(q["edges"])) <= int(q["steps"]) + 1
    ),
    "prefix": lambda q, _: (
        1 <= int(q["step"]) <= 256 // int(q["levels"])
        and isinstance(q["alphabet"], str)
        and q["alphabet"].isprintable()
    ),
    "several": lambda q, _: (
        1 <= len(q["parts"]) <= 1 << 12
        and sorted(q["names"]) == sorted(q["parts"])
        and all(_part(part) for part in q["parts"].values())
    ),
    "panel": lambda q, _: int(q["reports"]) <= int(q["waves"]) and _part(q["part"]),
}
"""Further conditions on a question, so that its odds are those of its law."""


def _buckets(edges: object) -> int:
    """Count the buckets between edges."""
    if (
        not isinstance(edges, list)
        or len(edges) < 2
        or not all(_written(edge, "0123456789/-") for edge in edges)
    ):
        raise ValueError
    return len([Fraction(edge) for edge in edges]) - 1


def _part(part: Question) -> bool:
    return part["kind"] in KINDS and part["kind"] != "several" and is_supported(part)


def is_supported(question: Question) -> bool:
    """Tell whether this client can compute the question's odds: numbers in range, probabilities
    between 0 and 1 (RAPPOR may report remembered bits unchanged).
    """
    if (
        question.get("sfumato") != "local"
        or question.get("version") != VERSION
        or question.get("kind") not in ODDS
    ):
        return False
    is_rappor = question["kind"] in REMEMBERED
    chances = [
        (int(question[name]), is_rappor and name != "keep")
        for name in ("own", "other", "keep")
        if name in question
    ]
    sizes = all(
        least <= int(question[name]) <= most
        for name, (least, most) in RANGES.items()
        if name in question
    )
    complete = (
        all(name in question for name in NEEDS.get(question["kind"], ()))
        and str(question.get("seed")).encode() != b""
    )
    names = question.get("categories", None if question["kind"] not in CODES else [None])
    fair = all(0 <= m <= ONE if ends else 0 < m < ONE for m, ends in chances)
    shape = SHAPES.get(question["kind"])
    return (
        complete
        and sizes
        and fair
        and isinstance(names, list)
        and len(names) > 0
        and (shape is None or shape(question, len(question.get("categories", ()))))
    )


def check(question: Question) -> None:
    """Refuse a question whose probabilities keep less than it claims."""
    try:
        fits = is_supported(question) and [
            (odds, Fraction(claim)) for odds, claim in _claims(question) if _written(claim)
        ]
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        fits = False
    if not fits or len(fits) < len(_claims(question)):
        raise ValueError("this client does not know such a question")
    if not all(odds <= exp_down(claim) for odds, claim in fits):
        raise ValueError("the probabilities of this question tell more than it claims")


def _claims(question: Question) -> list[tuple[Fraction, object]]:
    """Return odds with the ε claimed for them: of one report, and for RAPPOR of all reports."""
    single = (
        ODDS[question["kind"]](question, len(question.get("categories", ()))),
        question["epsilon"],
    )
    if question["kind"] not in REMEMBERED:
        return [single]
    keep = int(question["keep"])
    return [
        single,
        (_of_bits(keep, ONE - keep, max(1, int(question["hashes"]))), question["lifetime"]),
    ]


def _written(claim: object, signs: str = "0123456789/") -> TypeGuard[str]:
    return isinstance(claim, str) and len(claim) <= 1000 and set(claim) <= set(signs)


def exp_down(epsilon: Fraction) -> Fraction:
    """Return a number not above e^ε, and hardly below it: 50 digits, less one part in 10^45."""
    context, small = Context(prec=50), min(epsilon, Fraction(1000))
    power = context.exp(context.divide(Decimal(small.numerator), Decimal(small.denominator)))
    return Fraction(power) * (1 - Fraction(1, 10**45))


if __name__ == "__main__":  # python client.py question.json value
    with open(sys.argv[1], encoding="utf-8") as file:
        survey = json.load(file)
    # a shell passes only texts: 3 is the category 3
    names = {str(name): name for name in reversed(survey.get("categories", []))}
    sys.stdout.write(perturb(survey, names.get(sys.argv[2], sys.argv[2])).hex() + "\n")
