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
    found = {name: protect_dataset(about) for name, about in deployment.config.datasets.items()}
    found["visits"].ledger.allow("ada", found["visits"].budget)
    yield found
    for one in found.values():
        one.close()


def asked(epsilon: str = "0.5", sql: str = SQL, **more: Any) -> dict[str, Any]:
    return {
        "dataset": "visits",
        "who": "ada",
        "question": {"sql": sql, "epsilon": epsilon},
        "media": JSON,
        "timeout": 30.0,
        "recall": False,
        **more,
    }


def parts(said: bytes) -> tuple[str, dict[str, bytes]]:
    source = io.BytesIO(said)
    head = json.loads(source.readline())
    found = {
        name: source.read(length)
        for name, length in zip(head.get("names", ()), head["lengths"], strict=True)
    }
    assert source.read() == b""
    return head["kind"], found


def test_an_answer_is_charged_to_its_asker(tables: dict[str, Any]) -> None:
    before = tables["visits"].ledger.account("ada").spent
    kind, found = parts(answer_question(tables, asked(media=CSV)))
    assert (kind, list(found)) == ("answer", [JSON, CSV])
    assert Answer.from_json(json.dumps(json.loads(found[JSON])["answer"])).names == ("n", "m")
    assert tables["visits"].ledger.account("ada").spent != before


def test_what_was_stored_is_recalled_without_a_charge(tables: dict[str, Any]) -> None:
    _, first = parts(answer_question(tables, asked("0.25")))
    before = tables["visits"].ledger.spent
    _, again = parts(answer_question(tables, asked("0.25", recall=True)))
    assert json.loads(again[JSON])["table"] == json.loads(first[JSON])["table"]
    assert parts(answer_question(tables, asked("0.375", recall=True))) == ("lost", {})
    assert tables["visits"].ledger.spent == before


def test_a_lost_request_gets_only_what_its_own_share_paid_for(tables: dict[str, Any]) -> None:
    ledger, one = tables["visits"].ledger, asked("0.1875")
    ledger.allow("bob", ledger.budget)
    _, first = parts(answer_question(tables, one))
    before = ledger.account("bob").spent
    assert parts(answer_question(tables, {**one, "who": "bob", "recall": True})) == ("lost", {})
    assert ledger.account("bob").spent == before
    _, again = parts(answer_question(tables, {**one, "recall": True}))
    assert json.loads(again[JSON])["recalled"] == json.loads(first[JSON])["receipt"]["when"]


def test_a_lost_request_pays_for_what_was_learned(tmp_path: Path) -> None:
    """Its answer shows the limit that another has learned meanwhile."""
    deployment = service(tmp_path, budget="100")
    deployment.path.write_text(
        deployment.path.read_text(encoding="utf-8").replace("max_rows = 4\n", ""), encoding="utf-8"
    )
    with protect_dataset(load(deployment.path).datasets["visits"]) as own:
        for who in ("ada", "bob"):
            own.ledger.allow(who, own.budget)
        tables, ledger = {"visits": own}, own.ledger
        assert parts(answer_question(tables, asked(who="bob")))[0] == "answer"  # bob learned it
        assert parts(answer_question(tables, asked(recall=True))) == (
            "lost",
            {},
        )  # another's answer is not given, and nothing of the limit is shown
        (lesson,) = own.lessons.values()
        receipt, before = ledger.charge(Pure(Fraction(1, 4)), share="ada"), ledger.account("bob")
        ledger.remember(
            receipt, storage_name(lesson.limit, own.original), lesson.to_json()
        )  # ada learned it anew
        assert parts(answer_question(tables, asked(who="bob", recall=True)))[0] == "answer"
        assert (
            ledger.account("bob").spent
            == before.plus(ratios(price(ledger.budget, (Pure(Fraction(1, 4)),)))).spent
        )


@pytest.mark.usefixtures("tables")
def test_an_answer_is_stored_at_its_moment_and_not_later(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato import release

    with worker.open_dataset(deployment.config.datasets["visits"], lambda _: None) as own:
        tables = {"visits": own}
        assert parts(answer_question(tables, asked("0.0625", held=0.5)))[0] == "answer"
        charge, stored = list(own.ledger.history())[-2:]
        assert (charge.kind, stored.kind) == ("charge", "answer")
        assert (
            datetime.datetime.fromisoformat(stored.when)
            - datetime.datetime.fromisoformat(charge.when)
        ).total_seconds() >= 0.49
        true = release._tally
        monkeypatch.setattr(release, "_tally", lambda *given: time.sleep(0.2) or true(*given))
        assert answer_question(tables, asked("0.03125", held=0.1)) == worker.FAILED
        assert list(own.ledger.history())[-1].kind == "charge"


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
    with worker.open_dataset(config, lambda _: None) as own:
        tables, true = {"visits": own}, release._tally
        with monkeypatch.context() as patch:
            patch.setattr(release, "_tally", lambda *given: time.sleep(0.3) or true(*given))
            assert answer_question(tables, asked(held=0.2)) == worker.FAILED
        assert [one.kind for one in own.ledger.history() if one.share] == ["share", "charge"]
        assert parts(answer_question(tables, asked(held=2.0)))[0] == "answer"
        book = [one for one in own.ledger.history() if one.share][2:]
        assert [one.kind for one in book] == ["charge", "answer", "answer", "charge", "answer"]
        begun, *after = (datetime.datetime.fromisoformat(one.when).timestamp() for one in book)
        assert [after[0] - begun >= 0.99, after[2] - begun >= 0.99, after[3] - begun >= 1.99] == [
            True
        ] * 3


def test_refusals_are_told(tables: dict[str, Any]) -> None:
    kind, found = parts(answer_question(tables, asked(sql="SELECT age FROM visits")))
    assert (kind, json.loads(found["refusal"])["code"]) == ("refused", "sql.raw-rows")
    kind, found = parts(answer_question(tables, asked("1000")))
    assert (kind, json.loads(found["refusal"])["code"]) == ("exceeded", "budget.exceeded")


def test_whatever_breaks_says_one_word(
    tables: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        worker.encode_replies,
        "rendered",
        lambda *_: (_ for _ in ()).throw(RuntimeError("Xenophon was here")),
    )
    assert answer_question(tables, asked("0.125")) == worker.FAILED
    assert answer_question(tables, {"dataset": "other"}) == worker.FAILED


def test_it_speaks_lines(deployment: Deployment, tables: dict[str, Any]) -> None:
    begun = {"text": deployment.config.text, "folder": str(deployment.config.folder)}
    source = io.BytesIO(
        b"".join(json.dumps(one).encode() + b"\n" for one in (begun, asked(sql="SELECT 1")))
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

    heard: list[str] = []
    true = release._tally
    monkeypatch.setattr(release, "_tally", lambda *given: heard.append("read") or true(*given))
    with worker.open_dataset(
        deployment.config.datasets["visits"], lambda news: heard.append(json.loads(news)["kind"])
    ) as own:
        assert parts(answer_question({"visits": own}, asked("0.3125")))[0] == "answer"
        assert parts(answer_question({"visits": own}, asked("0.3125")))[0] == "answer"
        assert parts(answer_question({"visits": own}, asked("1000")))[0] == "exceeded"
        assert heard == ["charged", "read"]
        assert parts(answer_question({"visits": own}, asked("0.15625", held=0.3)))[0] == "answer"
        assert heard[2:] == ["charged", "read", "made"]
        monkeypatch.setattr(release, "_tally", lambda *given: time.sleep(0.2) or true(*given))
        assert answer_question({"visits": own}, asked("0.078125", held=0.1)) == worker.FAILED
        assert heard[5:] == ["charged"]  # what was not made in time is not said to be made


@pytest.mark.usefixtures("tables")
def test_an_answer_is_stored_though_nobody_listens_any_more(deployment: Deployment) -> None:
    """The parent was killed after the charge: whoever asks again under the key finds the answer."""
    told: list[bytes] = []

    def gone(news: bytes) -> None:
        told.append(news)
        if news == worker.ABOUT_TO_STORE:
            raise BrokenPipeError

    with worker.open_dataset(deployment.config.datasets["visits"], gone) as own:
        assert parts(answer_question({"visits": own}, asked("0.0390625", held=0.3)))[0] == "answer"
        assert told == [worker.CHARGED, worker.ABOUT_TO_STORE]
        assert list(own.ledger.history())[-1].kind == "answer"


def test_a_charge_that_may_stand_is_not_told_to_be_none(
    tables: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that failed half-way: the key is void, and nobody is told that nothing was
    charged.
    """

    def unsure(*_: Any, **__: Any) -> None:
        raise Refused("ledger.io", "the book", f"the disk failed; {UNSURE}", "the same key")

    monkeypatch.setattr(type(tables["visits"].ledger), "charge", unsure)
    assert answer_question(tables, asked("0.01953125")) == worker.LOST


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
    found = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        env={"PATH": ""},
        cwd=tmp_path,
    )
    assert (found.stdout, found.stderr) == (b"", b"")
