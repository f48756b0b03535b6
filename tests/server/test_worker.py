"""The worker, spoken to as its parent does, in this process."""

from __future__ import annotations

import datetime
import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.answers.answer import Answer
from sfumato.errors import Refused
from sfumato.guarantees import Pure
from sfumato.ledger.exact_totals import ratios
from sfumato.ledger.ledger_refusals import UNSURE
from sfumato.ledger.pricing import price
from sfumato.server.config import load
from sfumato.server.datasets import protect_dataset
from sfumato.server.http.encode_replies import CSV, JSON
from sfumato.server.workers import worker
from sfumato.server.workers.worker import answer_question, limit, serve
from sfumato.session.learning import storage_name

from .service import SQL, Deployment, service


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return service(tmp_path_factory.mktemp("worker"), budget="10")


@pytest.fixture(scope="module")
def tables(deployment: Deployment) -> Iterator[dict[str, Any]]:
    protected = {name: protect_dataset(about) for name, about in deployment.config.datasets.items()}
    protected["visits"].ledger.allow("ada", protected["visits"].budget)
    yield protected
    for table in protected.values():
        table.close()


def build_request(epsilon: str = "0.5", sql: str = SQL, **more: Any) -> dict[str, Any]:
    return {
        "dataset": "visits",
        "who": "ada",
        "question": {"sql": sql, "epsilon": epsilon},
        "media": JSON,
        "timeout": 30.0,
        "recall": False,
        **more,
    }


def parts(message: bytes) -> tuple[str, dict[str, bytes]]:
    source = io.BytesIO(message)
    head = json.loads(source.readline())
    contents = {
        name: source.read(length)
        for name, length in zip(head.get("names", ()), head["lengths"], strict=True)
    }
    assert source.read() == b""
    return head["kind"], contents


def test_an_answer_is_charged_to_its_asker(tables: dict[str, Any]) -> None:
    before = tables["visits"].ledger.account("ada").spent
    kind, contents = parts(answer_question(tables, build_request(media=CSV)))
    assert (kind, list(contents)) == ("answer", [JSON, CSV])
    assert Answer.from_json(json.dumps(json.loads(contents[JSON])["answer"])).names == ("n", "m")
    assert tables["visits"].ledger.account("ada").spent != before


def test_what_was_stored_is_recalled_without_a_charge(tables: dict[str, Any]) -> None:
    _, first = parts(answer_question(tables, build_request("0.25")))
    before = tables["visits"].ledger.spent
    _, again = parts(answer_question(tables, build_request("0.25", recall=True)))
    assert json.loads(again[JSON])["table"] == json.loads(first[JSON])["table"]
    assert parts(answer_question(tables, build_request("0.375", recall=True))) == ("lost", {})
    assert tables["visits"].ledger.spent == before


def test_a_lost_request_gets_only_what_its_own_share_paid_for(tables: dict[str, Any]) -> None:
    ledger, request = tables["visits"].ledger, build_request("0.1875")
    ledger.allow("bob", ledger.budget)
    _, first = parts(answer_question(tables, request))
    before = ledger.account("bob").spent
    assert parts(answer_question(tables, {**request, "who": "bob", "recall": True})) == ("lost", {})
    assert ledger.account("bob").spent == before
    _, again = parts(answer_question(tables, {**request, "recall": True}))
    assert json.loads(again[JSON])["recalled"] == json.loads(first[JSON])["receipt"]["when"]


def test_a_lost_request_pays_for_what_was_learned(tmp_path: Path) -> None:
    """Its answer shows the limit that another has learned meanwhile."""
    deployment = service(tmp_path, budget="100")
    deployment.path.write_text(
        deployment.path.read_text(encoding="utf-8").replace("max_rows = 4\n", ""), encoding="utf-8"
    )
    with protect_dataset(load(deployment.path).datasets["visits"]) as visits:
        for who in ("ada", "bob"):
            visits.ledger.allow(who, visits.budget)
        tables, ledger = {"visits": visits}, visits.ledger
        assert (
            parts(answer_question(tables, build_request(who="bob")))[0] == "answer"
        )  # bob learned it
        assert parts(answer_question(tables, build_request(recall=True))) == (
            "lost",
            {},
        )  # another's answer is not given, and nothing of the limit is shown
        (lesson,) = visits.lessons.values()
        receipt, before = ledger.charge(Pure(Fraction(1, 4)), share="ada"), ledger.account("bob")
        ledger.remember(
            receipt, storage_name(lesson.limit, visits.original), lesson.to_json()
        )  # ada learned it anew
        assert parts(answer_question(tables, build_request(who="bob", recall=True)))[0] == "answer"
        assert (
            ledger.account("bob").spent
            == before.plus(ratios(price(ledger.budget, (Pure(Fraction(1, 4)),)))).spent
        )


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "unlearned"])
def test_a_release_is_planned_once(
    tmp_path: Path, declared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker counts the charges by the plan that it releases: one, and one for each lesson."""
    from sfumato.session.request import Request

    deployment = service(tmp_path, budget="100")
    if not declared:
        text = deployment.path.read_text(encoding="utf-8").replace("max_rows = 4\n", "")
        deployment.path.write_text(text, encoding="utf-8")
    attempts, charges = [], []
    attempt, pace = Request.attempt, worker.PacedLedger.pace
    monkeypatch.setattr(Request, "attempt", lambda self: (attempts.append(self), attempt(self))[1])

    def noted(self: Any, held: Any = None, busy: Any = None, count: int = 1) -> None:
        charges.append(count)
        pace(self, held, busy, count)

    monkeypatch.setattr(worker.PacedLedger, "pace", noted)
    about = load(deployment.path).datasets["visits"]
    protect_dataset(about).close()
    with worker.open_dataset(about, lambda _: None) as visits:
        visits.ledger.allow("ada", visits.budget)
        before = len(list(visits.ledger.history()))
        assert parts(answer_question({"visits": visits}, build_request()))[0] == "answer"
        kinds = [entry.kind for entry in visits.ledger.history()][before:]
    assert len(attempts) == 1
    assert kinds.count("charge") == charges[-1] == (1 if declared else 2)


@pytest.mark.usefixtures("tables")
def test_an_answer_is_stored_at_its_moment_and_not_later(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato import release

    with worker.open_dataset(deployment.config.datasets["visits"], lambda _: None) as visits:
        tables = {"visits": visits}
        assert parts(answer_question(tables, build_request("0.0625", held=0.5)))[0] == "answer"
        charge, stored = list(visits.ledger.history())[-2:]
        assert (charge.kind, stored.kind) == ("charge", "answer")
        assert (
            datetime.datetime.fromisoformat(stored.when)
            - datetime.datetime.fromisoformat(charge.when)
        ).total_seconds() >= 0.49
        true = release._tally
        monkeypatch.setattr(
            release, "_tally", lambda *arguments: time.sleep(0.2) or true(*arguments)
        )
        assert answer_question(tables, build_request("0.03125", held=0.1)) == worker.FAILED
        assert list(visits.ledger.history())[-1].kind == "charge"


def test_what_is_learned_first_is_stored_at_its_moment_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second charge would tell else how long learning took; where learning took too long there
    is none.
    """
    from sfumato import release

    deployment = service(tmp_path, budget="100")
    deployment.path.write_text(
        deployment.path.read_text(encoding="utf-8").replace("max_rows = 4\n", ""), encoding="utf-8"
    )
    config = load(deployment.path).datasets["visits"]
    with protect_dataset(config) as first:
        first.ledger.allow("ada", first.budget)
    with worker.open_dataset(config, lambda _: None) as visits:
        tables, true = {"visits": visits}, release._tally
        with monkeypatch.context() as patch:
            patch.setattr(release, "_tally", lambda *arguments: time.sleep(0.3) or true(*arguments))
            assert answer_question(tables, build_request(held=0.2)) == worker.FAILED
        assert [entry.kind for entry in visits.ledger.history() if entry.share] == [
            "share",
            "charge",
        ]
        assert parts(answer_question(tables, build_request(held=2.0)))[0] == "answer"
        book = [entry for entry in visits.ledger.history() if entry.share][2:]
        assert [entry.kind for entry in book] == ["charge", "answer", "answer", "charge", "answer"]
        begun, *after = (datetime.datetime.fromisoformat(entry.when).timestamp() for entry in book)
        assert [after[0] - begun >= 0.99, after[2] - begun >= 0.99, after[3] - begun >= 1.99] == [
            True
        ] * 3


def test_refusals_are_told(tables: dict[str, Any]) -> None:
    kind, contents = parts(answer_question(tables, build_request(sql="SELECT age FROM visits")))
    assert (kind, json.loads(contents["refusal"])["code"]) == ("refused", "sql.raw-rows")
    kind, contents = parts(answer_question(tables, build_request("1000")))
    assert (kind, json.loads(contents["refusal"])["code"]) == ("exceeded", "budget.exceeded")


def test_whatever_breaks_says_one_word(
    tables: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        worker.encode_replies,
        "rendered",
        lambda *_: (_ for _ in ()).throw(RuntimeError("Xenophon was here")),
    )
    assert answer_question(tables, build_request("0.125")) == worker.FAILED
    assert answer_question(tables, {"dataset": "other"}) == worker.FAILED


def test_it_speaks_lines(deployment: Deployment, tables: dict[str, Any]) -> None:
    begun = {"text": deployment.config.text, "folder": str(deployment.config.folder)}
    source = io.BytesIO(
        b"".join(
            json.dumps(message).encode() + b"\n"
            for message in (begun, build_request(sql="SELECT 1"))
        )
    )
    sink = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "limit", lambda _: None)
        patch.setattr(worker, "warm", lambda: None)
        serve(source, sink)
    ready, refused, *_ = sink.getvalue().splitlines()
    assert ready + b"\n" == worker.READY
    assert json.loads(refused)["kind"] == "refused"


def test_the_news_of_a_charge_and_of_an_answer(
    deployment: Deployment, tables: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato import release

    kinds: list[str] = []
    true = release._tally
    monkeypatch.setattr(
        release, "_tally", lambda *arguments: kinds.append("read") or true(*arguments)
    )
    with worker.open_dataset(
        deployment.config.datasets["visits"], lambda news: kinds.append(json.loads(news)["kind"])
    ) as visits:
        assert parts(answer_question({"visits": visits}, build_request("0.3125")))[0] == "answer"
        assert parts(answer_question({"visits": visits}, build_request("0.3125")))[0] == "answer"
        assert parts(answer_question({"visits": visits}, build_request("1000")))[0] == "exceeded"
        assert kinds == ["charged", "read"]
        assert (
            parts(answer_question({"visits": visits}, build_request("0.15625", held=0.3)))[0]
            == "answer"
        )
        assert kinds[2:] == ["charged", "read", "made"]
        monkeypatch.setattr(
            release, "_tally", lambda *arguments: time.sleep(0.2) or true(*arguments)
        )
        assert (
            answer_question({"visits": visits}, build_request("0.078125", held=0.1))
            == worker.FAILED
        )
        assert kinds[5:] == ["charged"]  # what was not made in time is not said to be made


@pytest.mark.usefixtures("tables")
def test_an_answer_is_stored_though_nobody_listens_any_more(deployment: Deployment) -> None:
    """The parent was killed after the charge: a retry under the same key finds the answer."""
    sent: list[bytes] = []

    def gone(news: bytes) -> None:
        sent.append(news)
        if news == worker.ABOUT_TO_STORE:
            raise BrokenPipeError

    with worker.open_dataset(deployment.config.datasets["visits"], gone) as visits:
        assert (
            parts(answer_question({"visits": visits}, build_request("0.0390625", held=0.3)))[0]
            == "answer"
        )
        assert sent == [worker.CHARGED, worker.ABOUT_TO_STORE]
        assert list(visits.ledger.history())[-1].kind == "answer"


def test_a_charge_that_may_stand_is_not_told_to_be_none(
    tables: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit failed half-way: the key is void, and the worker does not say that nothing was
    charged.
    """

    def unsure(*_: Any, **__: Any) -> None:
        raise Refused("ledger.io", "the book", f"the disk failed; {UNSURE}", "the same key")

    monkeypatch.setattr(type(tables["visits"].ledger), "charge", unsure)
    assert answer_question(tables, build_request("0.01953125")) == worker.LOST


def test_memory_is_bounded() -> None:
    """In a process of its own: what is allowed can be had, what is beyond cannot."""
    script = (
        "from sfumato.server.workers.worker import limit\nlimit(300 * 2**20)\n"
        "bytearray(100 * 2**20)\n"
        "try:\n    bytearray(400 * 2**20)\nexcept MemoryError:\n    print('bounded')"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True
        ).stdout
        == "bounded\n"
    )
    assert callable(limit)


SPILLS = """
import pathlib, sys, threading
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
import sfumato as sf
from sfumato.server.workers.worker import ENGINE, limit, warm
from sfumato.tables.engine.duckdb_engine import limit_engines
MEMORY = 320 * 2**20
path = sys.argv[1]
texts = [f"Xenophon{i:012d}{'a' * 60}" for i in range(10**6)]
pq.write_table(pa.table({"u": np.arange(10**6), "s": texts}), path)
with limit_engines(threads=1, memory=int(ENGINE * MEMORY)):
    rows = sf.protect(path, name="v", unit="u", budget=100, max_rows=1, table_rows=10**6)
    warm()
limit(MEMORY)
directory, seen, done = pathlib.Path(rows._source.engine.directory), set(), threading.Event()


def watch():
    while not done.wait(0.01):
        seen.update(one.name for one in directory.iterdir())


watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
found = rows.sql("SELECT COUNT(DISTINCT s || s || 'x') AS n FROM v", epsilon=100)
done.set()
watcher.join()
print("1 000 000" in str(found), any("duckdb" in one for one in seen))
"""


def test_a_question_that_does_not_fit_into_memory_is_spilled(tmp_path: Path) -> None:
    """The engine knows how much memory the process may take: a question that can do with less
    memory and a disk is no overrun.
    """
    done = subprocess.run(
        [sys.executable, "-c", SPILLS, str(tmp_path / "v.parquet")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.stdout, done.returncode) == ("True True\n", 0), done.stderr


def test_the_invented_questions_can_be_asked() -> None:
    worker.warm()


def test_nothing_is_printed(deployment: Deployment, tmp_path: Path) -> None:
    script = (
        "import os, sys\nfrom sfumato.server.workers import worker\nworker.serve = lambda *_: "
        "(print('secret'), os.write(2, b'secret'), sys.exit(0))\nworker.main()"
    )
    completed = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        env={"PATH": ""},
        cwd=tmp_path,
    )
    assert (completed.stdout, completed.stderr) == (b"", b"")
