"""The client in one file: its whole output law by arithmetic, what it needs, and broken clients
that have to be caught.
"""

from __future__ import annotations

import ast
import json
import math
import shelve
import subprocess
import sys
import types
from collections import UserDict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.exact.balls import ball, below
from sfumato.local import (
    FrequencyOracle,
    OneBit,
    Ordinal,
    PrefixTree,
    Questionnaire,
    Rappor,
    Unary,
    client,
)
from sfumato.local.wire_reports import Reports
from sfumato.testing import SeededBits

from .cases import PLAIN, SMALL
from .drawn import agrees, bent
from .laws import largest_odds, law_of, law_of_call

SOURCE = Path(client.__file__)
SEEDS = [(0, 0), (1, 0), (123456789, 987654321), (client.PRIME - 1, 17), (1 << 30, 5)]


def laws(
    oracle: FrequencyOracle, large_draws: tuple[int, ...] = (), module: Any = client
) -> list[dict[bytes, Fraction]]:
    question = json.loads(json.dumps(oracle.question))
    return [
        law_of(question, code, large_draws=large_draws, module=module) for code in range(oracle.k)
    ]


def keeps(odds: Fraction | None, epsilon: Fraction) -> bool:
    return odds is not None and below(lambda: ball(odds), lambda: ball(epsilon).exp())


def supports(oracle: FrequencyOracle, law: dict[bytes, Fraction]) -> list[Fraction]:
    """P(a report supports v), for each v, from an exact law of payloads."""
    totals = [Fraction(0)] * oracle.k
    for payload, chance in law.items():
        counts = oracle._tally(np.frombuffer(payload, dtype=np.uint8)[None, :])
        totals = [total + chance * int(count) for total, count in zip(totals, counts, strict=True)]
    return totals


@pytest.mark.parametrize("name", SMALL)
def test_the_promise_by_arithmetic_over_the_whole_law(name: str) -> None:
    """The largest ratio over all reports and all pairs of values: exactly `odds`, and at most e^ε.
    Hash functions are given: the value has no part in them.
    """
    oracle = SMALL[name]
    ratios = [
        largest_odds(laws(oracle, hash_function))
        for hash_function in (SEEDS if oracle.kind == "hashing" else [()])
    ]
    assert all(keeps(odds, oracle.epsilon) for odds in ratios)
    most = max(odds for odds in ratios if odds is not None)
    assert most == oracle.odds or (
        name == "rappor-bloom" and most < oracle.odds
    )  # two values of a Bloom filter may share bits
    assert oracle.odds == client.ODDS[oracle.kind](oracle.question, oracle.k)


@pytest.mark.parametrize("name", PLAIN)
def test_support_by_arithmetic(name: str) -> None:
    """`own` and `other`, which everything is estimated with, are what the client does."""
    oracle = PLAIN[name]
    for code, law in enumerate(laws(oracle)):
        assert supports(oracle, law) == [
            oracle.true_support if v == code else oracle.false_support for v in range(oracle.k)
        ]


@pytest.mark.parametrize("name", SMALL)
def test_every_report_of_the_client_is_well_formed(name: str) -> None:
    oracle = SMALL[name]
    for law in laws(oracle, SEEDS[2]):
        rows = np.frombuffer(b"".join(law), dtype=np.uint8).reshape(-1, oracle.width)
        assert oracle._well_formed(rows).all()


def test_a_report_travels() -> None:
    for oracle in SMALL.values():
        question = json.loads(json.dumps(oracle.question))
        reports = [client.perturb(question, value) for value in oracle.categories for _ in range(3)]
        assert all(len(report) == 4 + oracle.width for report in reports)
        assert oracle.aggregate(reports).reports == 3 * oracle.k


STRANGE: list[Any] = [
    "secret",
    "",
    None,
    3.5,
    float("nan"),
    (1, 2),
    ["a"],
    {"a": 1},
    b"a",
    np.array(["a", "b"]),
    object(),
]


class Hostile:
    """A value that answers nothing."""

    def __eq__(self, value: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]  # not hashable

    def __float__(self) -> float:
        raise RuntimeError


@pytest.mark.parametrize("name", SMALL)
def test_every_value_is_answered_and_its_law_is_the_mean(name: str) -> None:
    """What is none of the categories: the whole law of the report, enumerated, is the mean of the
    laws of all categories. So beside any value its ratio is at most what two categories have, and
    no two values can be told apart by silence.
    """
    oracle = SMALL[name]
    question = json.loads(json.dumps(oracle.question))
    for hash_function in SEEDS if oracle.kind == "hashing" else [()]:
        each = laws(oracle, hash_function)
        mean = {
            report: sum((law.get(report, Fraction(0)) for law in each), Fraction(0)) / oracle.k
            for law in each
            for report in law
        }
        law = {
            report[4:]: p
            for report, p in law_of_call(
                lambda: client.perturb(question, "secret"), large_draws=hash_function
            ).items()
        }
        assert law == mean
        assert keeps(largest_odds([law, *each]), oracle.epsilon)
    for value in (*STRANGE, Hostile()):
        assert len(client.perturb(question, value)) == 4 + oracle.width


def test_a_question_made_so_that_silence_would_tell() -> None:
    """A collector lists one value and something nobody has: a person with neither answers, too,
    within ε of a person with the listed value.
    """
    question = json.loads(json.dumps(Unary(epsilon=1, categories=["positive", "x"]).question))
    mine, yours = (
        law_of_call(lambda value=value: client.perturb(question, value))
        for value in ("positive", "negative")
    )
    assert keeps(largest_odds([mine, yours]), Fraction(1))
    fixed = law_of_call(lambda: client.perturb(question, "x"))
    far, near = largest_odds([mine, fixed]), largest_odds([mine, yours])
    assert far is not None
    assert near is not None
    assert far > near


@pytest.mark.parametrize("name", PLAIN)
def test_others_are_spread_evenly_over_the_estimates(name: str) -> None:
    """A person with another value adds 1/k to every frequency, on average and exactly: they still
    add up to one.
    """
    oracle = PLAIN[name]
    law = {
        report[4:]: p
        for report, p in law_of_call(lambda: client.perturb(oracle.question, "secret")).items()
    }
    assert (
        supports(oracle, law)
        == [oracle.false_support + (oracle.true_support - oracle.false_support) / oracle.k]
        * oracle.k
    )


def test_the_same_categories_as_in_bulk() -> None:
    """Equal values are one category here and there: whole numbers and doubles, texts of NumPy."""
    question = json.loads(json.dumps(Unary(epsilon=1, categories=[1, "a", None]).question))
    for value, place in (
        (1, 0),
        (1.0, 0),
        (np.int64(1), 0),
        ("a", 1),
        (np.str_("a"), 1),
        (None, 2),
        ("b", None),
        (2, None),
        (np.array([1, 2]), None),
    ):
        assert client.listed(question, value) == place


@pytest.mark.parametrize(
    ("m", "word", "heads"),
    [
        (1, 0, True),
        (1, 1, False),
        (0, 0, False),
        (client.ONE, client.ONE - 1, True),
        (1 << 63, (1 << 63) - 1, True),
    ],
)
def test_a_coin_is_a_comparison(
    monkeypatch: pytest.MonkeyPatch, m: int, word: int, heads: bool
) -> None:
    monkeypatch.setattr(
        client.secrets, "randbits", lambda bits: word if bits == 64 else pytest.fail("64 bits")
    )
    assert client.coin(m) is heads


def test_a_question_that_claims_too_much_is_refused() -> None:
    for oracle in SMALL.values():
        client.check(oracle.question)
        less = {**oracle.question, "epsilon": str(oracle.epsilon * (1 - Fraction(1, 10**12)))}
        with pytest.raises(ValueError, match="tell more than it claims"):
            client.check(less)
    broken = {
        **SMALL["unary"].question,
        "own": str(int(SMALL["unary"].question["own"]) + (1 << 40)),
    }
    with pytest.raises(ValueError, match="tell more than it claims"):
        client.perturb(broken, "a")
    lasting = {**SMALL["rappor"].question, "lifetime": "2"}
    with pytest.raises(ValueError, match="tell more than it claims"):
        client.check(lasting)
    with pytest.raises(ValueError, match="does not know"):
        client.check({**SMALL["unary"].question, "version": 2})


@pytest.mark.parametrize("epsilon", ["1/1000", "1", "7.3", "40", "999"])
def test_exp_is_rounded_down(epsilon: str) -> None:
    e, power = Fraction(epsilon), client.exp_down(Fraction(epsilon))
    assert below(lambda: ball(power), lambda: ball(e).exp())
    assert below(lambda: ball(e).exp() * ball(1 - Fraction(1, 10**44)), lambda: ball(power))


def test_it_needs_the_standard_library_alone(tmp_path: Path) -> None:
    """Copied alone into a folder, without site packages; nothing of chance but `secrets`."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    modules = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    modules |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in modules} <= set(sys.stdlib_module_names)
    assert not modules & {"random", "os"}
    (tmp_path / "client.py").write_bytes(SOURCE.read_bytes())
    oracle = SMALL["direct"]
    (tmp_path / "question.json").write_text(json.dumps(oracle.question), encoding="utf-8")
    completed = subprocess.run(
        [sys.executable, "-I", "-S", "client.py", "question.json", "a"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert oracle.aggregate([bytes.fromhex(completed.stdout)]).reports == 1


def test_memory_is_drawn_once() -> None:
    """The same permanent bits as long as the value stays; the same cohort for life; a further value
    is remembered beside it.
    """
    question = SMALL["rappor-bloom"].question
    memory: dict[str, Any] = {}
    cohorts = {client.perturb(question, "a", memory)[4] for _ in range(50)}
    assert len(cohorts) == 1
    (entry,) = memory.values()
    before = json.dumps(entry)
    client.perturb(question, "a", memory)
    assert json.dumps(entry) == before
    assert json.dumps(memory[client.identity(question).hex()]) == before
    client.perturb(question, "b", memory)
    (entry,) = memory.values()
    assert set(entry["values"]) == {"0", "1"}
    assert json.dumps({**entry, "values": {"0": entry["values"]["0"]}}) == before
    again = json.loads(json.dumps(memory))  # as a device would store it
    client.perturb(question, "a", again)
    assert again == memory


def test_all_reports_of_one_value_keep_the_lifetime() -> None:
    """Two reports made of one memory: the law of both together, by arithmetic, keeps ε∞ and not
    twice ε₁; drawn anew each time it would exceed it.
    """
    oracle = SMALL["rappor-once"]
    question = oracle.question

    def twice(code: int, anew: bool) -> Callable[[], bytes]:
        def call() -> bytes:
            memory: dict[str, Any] = {}
            first = client.rappor(question, code, memory)
            return first + client.rappor(question, code, {} if anew else memory)

        return call

    lifetime = oracle.lifetime().parameters["epsilon"]
    together = largest_odds([law_of_call(twice(code, anew=False)) for code in (0, 1)])
    assert keeps(together, lifetime)
    assert not keeps(
        largest_odds([law_of_call(twice(code, anew=True)) for code in (0, 1)]), lifetime
    )


class Copies(UserDict[str, Any]):
    """A store as on disk: what is read is a copy."""

    def __getitem__(self, key: str) -> Any:
        return json.loads(super().__getitem__(key))

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, json.dumps(value))


class Forgets(Copies):
    def __setitem__(self, key: str, value: Any) -> None:
        pass


class Draws(Copies):
    """A store that keeps something else."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, {**value, "cohort": 1 - value["cohort"]})


@pytest.mark.parametrize("value", ["a", "secret"])
def test_a_memory_on_disk_is_drawn_once(value: str, tmp_path: Path) -> None:
    """One-time reports, p = 0 and q = 1, are the permanent bits: 40 of them differ with bits drawn
    anew, but for a chance below 10⁻⁹, and are one otherwise.
    """
    question = json.loads(json.dumps(Rappor(f="1/2", categories=["a", "b", "c"]).question))
    with shelve.open(str(tmp_path / "memory")) as disk:
        for memory in (disk, Copies(), {}):
            assert len({client.perturb(question, value, memory) for _ in range(40)}) == 1
            (entry,) = memory.values()
            assert len(entry["values"]) == 1
    assert len({client.perturb(question, value) for _ in range(40)}) > 1


@pytest.mark.parametrize("memory", [Forgets, Draws], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("value", ["a", "secret"])
def test_a_memory_that_does_not_remember_is_refused(memory: type[Copies], value: str) -> None:
    with pytest.raises(ValueError, match="does not return what was written"):
        client.perturb(SMALL["rappor-bloom"].question, value, memory())


def test_other_values_keep_the_lifetime_together() -> None:
    """Two reports of two values that are no categories: one remembered place, so both together keep
    ε∞ beside any category; two places would not.
    """
    oracle = SMALL["rappor-once"]
    question = json.loads(json.dumps(oracle.question))

    def twice(first: str, second: str) -> Callable[[], bytes]:
        def call() -> bytes:
            memory: dict[str, Any] = {}
            return client.perturb(question, first, memory) + client.perturb(
                question, second, memory
            )

        return call

    lifetime = oracle.lifetime().parameters["epsilon"]
    assert keeps(
        largest_odds(
            [law_of_call(twice("x", "y")), *(law_of_call(twice(name, name)) for name in "abcd")]
        ),
        lifetime,
    )
    assert not keeps(
        largest_odds([law_of_call(twice("a", "b")), law_of_call(twice("a", "a"))]), lifetime
    )  # two places are two values


NAMES = ["own", "other", "keep", "buckets", "size", "rows", "cohorts", "hashes"]
ODD = [
    -1,
    0,
    1,
    2,
    3,
    5,
    6,
    client.ONE - 1,
    client.ONE,
    client.ONE + 1,
    client.ONE // 2,
    client.ONE // 3,
    2 * client.ONE,
    -client.ONE,
]


def hostile(name: str) -> tuple[int, int, int]:
    """A collector that is not trusted exchanges any number of a question, with claims that seem to
    fit. How many questions the client refuses, answers, and answers with a law that does not keep
    the claim, by following every coin.
    """
    refused = answered = broken = 0
    for field, value in (
        (field, value) for field in NAMES for value in ODD if field in SMALL[name].question
    ):
        if SMALL[name].kind == "rappor" and value in (3, 5, 6, client.ONE // 2, 2 * client.ONE):
            continue  # too many coins to follow
        for claim in ("1/100", "1", "4"):
            question = {
                **SMALL[name].question,
                field: str(value),
                "epsilon": claim,
                "lifetime": "8",
            }
            try:
                client.check(question)
            except ValueError:
                refused += 1
                continue
            answered += 1
            for hash_function in SEEDS if question["kind"] == "hashing" else [()]:
                broken += not keeps(
                    largest_odds(
                        [
                            law_of(question, code, large_draws=hash_function)
                            for code in range(len(question["categories"]))
                        ]
                    ),
                    Fraction(claim),
                )
            break  # a law that keeps the smaller claim keeps the larger
    return refused, answered, broken


@pytest.mark.parametrize("name", SMALL)
def test_whatever_question_is_answered_its_law_keeps_the_claim(name: str) -> None:
    refused, answered, broken = hostile(name)
    assert refused > answered
    assert broken == 0


def test_without_its_ranges_the_client_would_be_deceived(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a probability above 1 has negative odds, which are below every e^ε."""
    monkeypatch.setattr(client, "is_supported", lambda question: True)
    assert hostile("unary")[2] > 0


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "1e9"},
        {"epsilon": 1},
        {"epsilon": "9" * 2000},
        {"epsilon": None},
        {"own": "x"},
        {"own": None},
        {"categories": ["a"]},
        {"categories": []},
        {"kind": []},
    ],
    ids=lambda change: str(change)[:40],
)
def test_odd_questions_end_in_a_value_error(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="does not know"):
        client.check({**SMALL["direct"].question, **change})


NUMBER = OneBit(epsilon=1, low=0, high=2, grid=1).question
EDGES = Ordinal(epsilon=1, edges=[0, 1, 2]).question
TREE = PrefixTree(epsilon=1, length=3, alphabet="ab").question
BOTH = Questionnaire({"x": SMALL["direct"], "y": SMALL["unary"]}).question


@pytest.mark.parametrize(
    ("question", "change"),
    [
        (NUMBER, {"grid": 10**9}),
        (NUMBER, {"grid": -1101}),
        (NUMBER, {"grid": None}),
        (NUMBER, {"first": 10**400}),
        (EDGES, {"edges": ["0", "1e999999999"]}),
        (EDGES, {"edges": ["0", "9" * 1001]}),
        (EDGES, {"edges": ["0", "1/0"]}),
        (EDGES, {"edges": ["0"]}),
        (EDGES, {"edges": []}),
        (EDGES, {"edges": "01"}),
        (EDGES, {"edges": [0, 1]}),
        (EDGES, {"categories": []}),
        (TREE, {"levels": 1 << 31}),
        (TREE, {"step": 1 << 31}),
        (TREE, {"step": 0}),
        (TREE, {"alphabet": 7}),
        (TREE, {"alphabet": "a\ud800"}),
        (BOTH, {"length": 1 << 40}),
        (BOTH, {"names": ["x"], "parts": {"x": BOTH}}),
        (BOTH, {"names": ["x"], "parts": {"x": SMALL["rappor"].question}}),
        (BOTH, {"names": [], "parts": {}}),
        (TREE, {"seed": "\ud800"}),
        (SMALL["rappor-bloom"].question, {"hashes": 1 << 31}),
        (SMALL["rappor-bloom"].question, {"size": 1 << 31}),
        (SMALL["unary"].question, {"categories": []}),
        (SMALL["unary"].question, {"categories": "abc"}),
    ],
    ids=lambda part: str(part)[:40] if "sfumato" not in part else part["kind"],
)
def test_what_would_keep_a_client_busy_or_deceive_it_is_refused(
    question: dict[str, Any], change: dict[str, Any]
) -> None:
    """Before the value is looked at, and without computing with what is too large."""
    client.check(json.loads(json.dumps(question)))
    with pytest.raises(ValueError, match="does not know"):
        client.perturb({**question, **change}, Hostile())


@pytest.mark.parametrize(
    "question",
    [NUMBER, EDGES, TREE, BOTH, *(oracle.question for oracle in SMALL.values())],
    ids=lambda question: question["kind"],
)
def test_a_question_that_lacks_something_is_refused_for_every_value(
    question: dict[str, Any],
) -> None:
    """Whatever is left out of it, before the value is looked at."""
    for name in question:
        less = {key: value for key, value in question.items() if key != name}
        if name == "made":  # it is for whoever reads the reports
            continue
        with pytest.raises(ValueError, match="does not know"):
            client.perturb(less, Hostile())


VALUES: list[Any] = [
    *STRANGE,
    1,
    -7.5,
    10**400,
    -(10**400),
    float("inf"),
    -float("inf"),
    "abba",
    "é",
    {"x": "a", "y": "b"},
    {"x": "a"},
]


@pytest.mark.parametrize(
    "question",
    [NUMBER, EDGES, TREE, BOTH, {**BOTH, "how": "split", "epsilon": "2"}],
    ids=["number", "edges", "tree", "sample", "split"],
)
def test_no_value_is_refused(question: dict[str, Any]) -> None:
    lengths = {
        len(client.perturb(json.loads(json.dumps(question)), value))
        for value in (*VALUES, Hostile())
        for _ in range(4)
    }
    assert len(lengths) == 1


def test_what_stands_for_what_is_no_number() -> None:
    for value, step, bucket in (
        (float("nan"), 0, 0),
        (None, 0, 0),
        ("x", 0, 0),
        (Hostile(), 0, 0),
        (-(10**400), 0, 0),
        (10**400, 2, 1),
        (float("inf"), 2, 1),
    ):
        assert client.step(NUMBER, value) == step
        assert client.interval(EDGES, value) == bucket


@pytest.mark.parametrize(
    "name", [name for name, oracle in SMALL.items() if oracle.kind != "hashing"]
)
def test_the_vectorised_law_is_that_of_the_client(name: str) -> None:
    """100 000 reports of one value beside the client's exact law: the count of every report within
    its binomial limits, false alarm 10⁻⁷ a case, seeded bits. A law wrong by 5 % at its likeliest
    report is seen where that has a chance of 3 % or more.
    """
    oracle = SMALL[name]
    law = law_of(oracle.question, 1)
    reports = oracle.perturb(np.full(100_000, oracle.categories[1]), bits=SeededBits(3))
    assert agrees(reports, law)
    if max(law.values()) > Fraction(1, 30):
        assert not agrees(reports, bent(law))


def test_the_vectorised_hashing_is_that_of_the_client() -> None:
    """Given the function that each report carries, the report has the true bucket with probability
    t, else a uniform one of the others: counted over 200 000 reports, false alarm 10⁻⁷; the
    functions are pairs below P.
    """
    oracle = SMALL["hashing"]
    rows = oracle.perturb(np.full(200_000, "b"), bits=SeededBits(4)).payload.astype(np.int64)
    a, b = (
        rows[:, i] << 24 | rows[:, i + 1] << 16 | rows[:, i + 2] << 8 | rows[:, i + 3]
        for i in (0, 4)
    )
    true = ((a * 1 + b) % client.PRIME) * 4 >> 31
    steps = np.bincount((rows[:, 8] - true) % 4, minlength=4)
    law = {
        bytes([s]): oracle.true_support if s == 0 else (1 - oracle.true_support) / 3
        for s in range(4)
    }
    reports = Reports(oracle.mark, np.repeat(np.arange(4, dtype=np.uint8), steps)[:, None])
    assert agrees(reports, law)
    assert not agrees(reports, bent(law))
    assert a.max() < client.PRIME > b.max()


MUTANTS: dict[str, tuple[str, str, str]] = {
    (
        "the true bit keeps a coin of the others when its own fails (as pure-LDP before 1.2 "
        "lost the true bit's probability)"
    ): (
        "unary",
        "coin(p if i == code else q)",
        "(coin(p) or coin(q)) if i == code else coin(q)",
    ),
    "each bit is calibrated to ε": (
        "symmetric",
        'p, q = int(question["own"]), int(question["other"])\n    return _pack',
        "p = ONE * 6225 // 10000\n    q = ONE - p\n    return _pack",
    ),
    "a uniform answer may be the truth again": (
        "direct",
        "lie = below(k - 1)\n    return lie + (lie >= code)",
        "return below(k)",
    ),
    "the lie skips nobody": ("direct", "return lie + (lie >= code)", "return lie"),
    "the wrong bit is flipped": ("hadamard", "column ^= row & -row", "column ^= 1"),
    "the coin is turned round": (
        "hadamard",
        "(_parity(row & column) == 0) != positive",
        "(_parity(row & column) == 0) == positive",
    ),
    "the own value is never left out": (
        "subset",
        'inside = coin(int(question["own"]))',
        "inside = True",
    ),
    "the set is one smaller without the own value": (
        "subset",
        'range(int(question["size"]) - inside)',
        'range(int(question["size"]) - 1)',
    ),
    "the sign is told as it is": (
        "hadamard-sketch",
        'if coin(int(question["own"])) else not negative',
        "if coin(ONE) else not negative",
    ),
    "the row depends on the value": ("sketch", "row = below(rows)", "row = code % rows"),
    "nothing permanent": (
        "rappor",
        "int(coin(keep if i in true else ONE - keep))",
        "int(i in true)",
    ),
    "probabilities of the others and of the own value are exchanged": (
        "rappor",
        "coin(q if bit else p)",
        "coin(p if bit else q)",
    ),
}


@pytest.mark.parametrize("what", MUTANTS)
def test_a_broken_client_is_caught(what: str) -> None:
    """By its promise or by its support: each mutant changes a line or two of the source."""
    name, old, new = MUTANTS[what]
    source = SOURCE.read_text(encoding="utf-8")
    assert old in source
    mutant = types.ModuleType("mutant")
    exec(compile(source.replace(old, new), "mutant", "exec"), mutant.__dict__)
    oracle = SMALL[name]
    mutant_laws = laws(oracle, module=mutant)
    wrong_promise = not keeps(largest_odds(mutant_laws), oracle.epsilon)
    wrong_support = name in PLAIN and any(
        supports(oracle, law)[code] != oracle.true_support for code, law in enumerate(mutant_laws)
    )
    assert wrong_promise or wrong_support


def test_the_broken_bit_of_a_peer_costs_more_than_it_claims() -> None:
    """pure-LDP issue 11: the true bit was not kept with probability p. Here p + (1 − p)q in its
    place: at ε = 0.1 the true loss is several times larger.
    """
    oracle = Unary(epsilon="1/10", categories=["a", "b"])
    p, q = float(oracle.true_support), float(oracle.false_support)
    broken = p + (1 - p) * q
    assert math.log(broken * (1 - q) / (q * (1 - broken))) > 5 * float(oracle.epsilon)


def test_reports_are_bytes_of_one_length() -> None:
    oracle = SMALL["subset"]
    sent = Reports(
        oracle.mark, np.frombuffer(client.subset(oracle.question, 0), dtype=np.uint8)[None, :]
    )
    assert oracle.read([sent[0]])[0] == sent[0]
