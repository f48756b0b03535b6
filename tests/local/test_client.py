"""The client in one file: its whole output law by arithmetic, what it needs, and broken clients that have to be caught."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
import types
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.exact.balls import ball, below
from sfumato.local import FrequencyOracle, Unary, client
from sfumato.local.reports import Reports
from sfumato.testing import SeededBits

from .cases import PLAIN, SMALL
from .drawn import agrees, bent
from .laws import largest_odds, law_of, law_of_call

SOURCE = Path(client.__file__)
SEEDS = [(0, 0), (1, 0), (123456789, 987654321), (client.PRIME - 1, 17), (1 << 30, 5)]


def laws(oracle: FrequencyOracle, given: tuple[int, ...] = (), module: Any = client) -> list[dict[bytes, Fraction]]:
    question = json.loads(json.dumps(oracle.question))
    return [law_of(question, code, given=given, module=module) for code in range(oracle.k)]


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
    """The largest ratio over all reports and all pairs of values: exactly `odds`, and at most e^ε. Hash functions are given: the value has no part in them."""
    oracle = SMALL[name]
    found = [largest_odds(laws(oracle, given)) for given in (SEEDS if oracle.kind == "hashing" else [()])]
    assert all(keeps(odds, oracle.epsilon) for odds in found)
    most = max(odds for odds in found if odds is not None)
    assert most == oracle.odds or (name == "rappor-bloom" and most < oracle.odds)  # two values of a Bloom filter may share bits
    assert oracle.odds == client.ODDS[oracle.kind](oracle.question, oracle.k)


@pytest.mark.parametrize("name", PLAIN)
def test_support_by_arithmetic(name: str) -> None:
    """`own` and `other`, which everything is estimated with, are what the client does."""
    oracle = PLAIN[name]
    for code, law in enumerate(laws(oracle)):
        assert supports(oracle, law) == [oracle.own if v == code else oracle.other for v in range(oracle.k)]


@pytest.mark.parametrize("name", SMALL)
def test_every_report_of_the_client_is_well_formed(name: str) -> None:
    oracle = SMALL[name]
    for law in laws(oracle, SEEDS[2]):
        rows = np.frombuffer(b"".join(law), dtype=np.uint8).reshape(-1, oracle.width)
        assert oracle._formed(rows).all()


def test_a_report_travels() -> None:
    for oracle in SMALL.values():
        question = json.loads(json.dumps(oracle.question))
        reports = [client.perturb(question, value) for value in oracle.categories for _ in range(3)]
        assert all(len(report) == 4 + oracle.width for report in reports)
        assert oracle.aggregate(reports).reports == 3 * oracle.k


def test_no_such_value() -> None:
    with pytest.raises(ValueError, match="none of the categories") as refused:
        client.perturb(SMALL["direct"].question, "secret")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("m", "word", "heads"), [(1, 0, True), (1, 1, False), (0, 0, False), (client.ONE, client.ONE - 1, True), (1 << 63, (1 << 63) - 1, True)]
)
def test_a_coin_is_a_comparison(monkeypatch: pytest.MonkeyPatch, m: int, word: int, heads: bool) -> None:
    monkeypatch.setattr(client.secrets, "randbits", lambda bits: word if bits == 64 else pytest.fail("64 bits"))
    assert client.coin(m) is heads


def test_a_question_that_claims_too_much_is_refused() -> None:
    for oracle in SMALL.values():
        client.check(oracle.question)
        less = {**oracle.question, "epsilon": str(oracle.epsilon * (1 - Fraction(1, 10**12)))}
        with pytest.raises(ValueError, match="tell more than it claims"):
            client.check(less)
    broken = {**SMALL["unary"].question, "own": str(int(SMALL["unary"].question["own"]) + (1 << 40))}
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
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in modules} <= set(sys.stdlib_module_names)
    assert not modules & {"random", "os"}
    (tmp_path / "client.py").write_bytes(SOURCE.read_bytes())
    oracle = SMALL["direct"]
    (tmp_path / "question.json").write_text(json.dumps(oracle.question), encoding="utf-8")
    said = subprocess.run([sys.executable, "-I", "-S", "client.py", "question.json", "a"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert oracle.aggregate([bytes.fromhex(said.stdout)]).reports == 1


def test_memory_is_drawn_once() -> None:
    """The same permanent bits as long as the value stays; the same cohort for life; a further value is remembered beside it."""
    question = SMALL["rappor-bloom"].question
    memory: dict[str, Any] = {}
    cohorts = {client.perturb(question, "a", memory)[4] for _ in range(50)}
    assert len(cohorts) == 1
    (kept,) = memory.values()
    before = json.dumps(kept)
    client.perturb(question, "a", memory)
    assert json.dumps(kept) == before
    client.perturb(question, "b", memory)
    assert set(kept["values"]) == {"0", "1"}
    again = json.loads(json.dumps(memory))  # as a device would store it
    client.perturb(question, "a", again)
    assert again == memory


def test_all_reports_of_one_value_keep_the_lifetime() -> None:
    """Two reports made of one memory: the law of both together, by arithmetic, keeps ε∞ and not twice ε₁; drawn anew each time it would exceed it."""
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
    assert not keeps(largest_odds([law_of_call(twice(code, anew=True)) for code in (0, 1)]), lifetime)


NAMES = ["own", "other", "keep", "buckets", "size", "rows", "cohorts", "hashes"]
ODD = [-1, 0, 1, 2, 3, 5, 6, client.ONE - 1, client.ONE, client.ONE + 1, client.ONE // 2, client.ONE // 3, 2 * client.ONE, -client.ONE]


def hostile(name: str) -> tuple[int, int, int]:
    """A collector that is not trusted exchanges any number of a question, with claims that seem to fit. How many questions the client refuses, answers, and
    answers with a law that does not keep the claim, by following every coin."""
    refused = answered = broken = 0
    for field, value in ((field, value) for field in NAMES for value in ODD if field in SMALL[name].question):
        if SMALL[name].kind == "rappor" and value in (3, 5, 6, client.ONE // 2, 2 * client.ONE):
            continue  # too many coins to follow
        for claim in ("1/100", "1", "4"):
            question = {**SMALL[name].question, field: str(value), "epsilon": claim, "lifetime": "8"}
            try:
                client.check(question)
            except ValueError:
                refused += 1
                continue
            answered += 1
            for given in SEEDS if question["kind"] == "hashing" else [()]:
                broken += not keeps(largest_odds([law_of(question, code, given=given) for code in range(len(question["categories"]))]), Fraction(claim))
            break  # a law that keeps the smaller claim keeps the larger
    return refused, answered, broken


@pytest.mark.parametrize("name", SMALL)
def test_whatever_question_is_answered_its_law_keeps_the_claim(name: str) -> None:
    refused, answered, broken = hostile(name)
    assert refused > answered
    assert broken == 0


def test_without_its_ranges_the_client_would_be_deceived(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a probability above 1 has negative odds, which are below every e^ε."""
    monkeypatch.setattr(client, "known", lambda question: True)
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


@pytest.mark.parametrize("name", [name for name, oracle in SMALL.items() if oracle.kind != "hashing"])
def test_the_vectorised_law_is_that_of_the_client(name: str) -> None:
    """100 000 reports of one value beside the client's exact law: the count of every report within its binomial limits, false alarm 10⁻⁷ a case, seeded bits. A
    law wrong by 5 % at its likeliest report is seen where that has a chance of 3 % or more."""
    oracle = SMALL[name]
    law = law_of(oracle.question, 1)
    reports = oracle.perturb(np.full(100_000, oracle.categories[1]), bits=SeededBits(3))
    assert agrees(reports, law)
    if max(law.values()) > Fraction(1, 30):
        assert not agrees(reports, bent(law))


def test_the_vectorised_hashing_is_that_of_the_client() -> None:
    """Given the function that each report carries, the bucket is kept with probability t, else uniform among the others: counted over 200 000 reports, false
    alarm 10⁻⁷; the functions are pairs below P."""
    oracle = SMALL["hashing"]
    rows = oracle.perturb(np.full(200_000, "b"), bits=SeededBits(4)).payload.astype(np.int64)
    a, b = (rows[:, i] << 24 | rows[:, i + 1] << 16 | rows[:, i + 2] << 8 | rows[:, i + 3] for i in (0, 4))
    true = ((a * 1 + b) % client.PRIME) * 4 >> 31
    steps = np.bincount((rows[:, 8] - true) % 4, minlength=4)
    law = {bytes([s]): oracle.own if s == 0 else (1 - oracle.own) / 3 for s in range(4)}
    found = Reports(oracle.mark, np.repeat(np.arange(4, dtype=np.uint8), steps)[:, None])
    assert agrees(found, law)
    assert not agrees(found, bent(law))
    assert a.max() < client.PRIME > b.max()


MUTANTS: dict[str, tuple[str, str, str]] = {
    "the true bit keeps a coin of the others when its own fails (as pure-LDP before 1.2 lost the true bit's probability)": (
        "unary",
        "coin(own if i == code else other)",
        "(coin(own) or coin(other)) if i == code else coin(other)",
    ),
    "each bit is calibrated to ε": (
        "symmetric",
        'own, other = int(question["own"]), int(question["other"])\n    return _pack',
        "own = ONE * 6225 // 10000\n    other = ONE - own\n    return _pack",
    ),
    "a uniform answer may be the truth again": ("direct", "other = below(k - 1)\n    return other + (other >= code)", "return below(k)"),
    "the lie skips nobody": ("direct", "return other + (other >= code)", "return other"),
    "the wrong bit is flipped": ("hadamard", "column ^= row & -row", "column ^= 1"),
    "the coin is turned round": ("hadamard", "(_parity(row & column) == 0) != positive", "(_parity(row & column) == 0) == positive"),
    "the own value is never left out": ("subset", 'inside = coin(int(question["own"]))', "inside = True"),
    "the set is one smaller without the own value": ("subset", 'range(int(question["size"]) - inside)', 'range(int(question["size"]) - 1)'),
    "the sign is told as it is": ("hadamard-sketch", 'if coin(int(question["own"])) else not negative', "if coin(ONE) else not negative"),
    "the row depends on the value": ("sketch", "row = below(rows)", "row = code % rows"),
    "nothing permanent": ("rappor", "int(coin(keep if i in true else ONE - keep))", "int(i in true)"),
    "probabilities of the others and of the own value are exchanged": ("rappor", "coin(own if bit else other)", "coin(other if bit else own)"),
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
    found = laws(oracle, module=mutant)
    wrong_promise = not keeps(largest_odds(found), oracle.epsilon)
    wrong_support = name in PLAIN and any(supports(oracle, law)[code] != oracle.own for code, law in enumerate(found))
    assert wrong_promise or wrong_support


def test_the_broken_bit_of_a_peer_costs_more_than_it_claims() -> None:
    """pure-LDP issue 11: the true bit was not kept with probability p. Here p + (1 − p)q in its place: at ε = 0.1 the true loss is several times larger."""
    oracle = Unary(epsilon="1/10", categories=["a", "b"])
    p, q = float(oracle.own), float(oracle.other)
    kept = p + (1 - p) * q
    assert math.log(kept * (1 - q) / (q * (1 - kept))) > 5 * float(oracle.epsilon)


def test_reports_are_bytes_of_one_length() -> None:
    oracle = SMALL["subset"]
    sent = Reports(oracle.mark, np.frombuffer(client.subset(oracle.question, 0), dtype=np.uint8)[None, :])
    assert oracle.read([sent[0]])[0] == sent[0]
