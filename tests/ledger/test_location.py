"""Files, servers and memory, and what a URL never shows."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.ledger.storage.location import parse_location, public_name
from sfumato.storage.database_url import Url

from ..refusing import refusing


def test_places() -> None:
    assert parse_location(None) is None
    assert parse_location("a.ledger") == parse_location(Path("a.ledger")) == Path.cwd() / "a.ledger"
    for name in ("c:/a.ledger", "file:a?mode=memory", "postgresql", "a/b:c", "memory:"):
        assert isinstance(parse_location(name), Path)
    for url in (
        "postgresql://role@host/books",
        "postgres:///books",
        "PostgreSQL://a:b@c/d?sslmode=verify-full",
    ):
        location = parse_location(url)
        assert isinstance(location, Url)
        assert location.reveal() == url


@pytest.mark.parametrize(
    "url",
    [
        "mysql://a:secret@b/c",
        "https://secret@b",
        "postgresql:/a:secret@b",
        "postgresql+psycopg://a:secret@b/c",
    ],
)
def test_other_urls_are_refused_unseen(url: str) -> None:
    for location in (url, Path(url)):
        with refusing("ledger.path") as caught:
            parse_location(location)
        assert "secret" not in str(caught.value)


def test_a_url_is_not_shown() -> None:
    url = Url("postgresql://a:secret@b/c")
    assert "secret" not in repr(url) + str(url) + f"{url}" + repr([url])
    with pytest.raises(TypeError):
        pickle.dumps(url)
    assert public_name("postgresql://a:secret@b/c") == "postgresql"
    assert public_name("/folder/a.ledger") == "a.ledger"


def test_the_word_of_sqlite_for_memory_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    budget = sf.Pure(1, relation="add-remove", unit="person")
    book = sf.Ledger.open(":memory:", budget=budget, dataset="visits")
    book.charge(sf.Pure("1/2"))
    fresh = sf.Ledger.open(":memory:", budget=budget, dataset="visits")
    assert fresh.spent == sf.Pure(0, relation="add-remove", unit="person"), "another book"
    assert list(tmp_path.iterdir()) == []
    assert parse_location(":memory:") is None
    assert parse_location("memory") == tmp_path / "memory"
