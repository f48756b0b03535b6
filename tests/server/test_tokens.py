"""Tokens are random, shown once, kept as hashes, and end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.server import tokens
from sfumato.server.http.problems import UNNAMED, ProblemError
from sfumato.server.request_store import RequestStore
from sfumato.server.roles import Asker
from sfumato.server.tokens import BITS, DAY, Tokens, create_token


@pytest.fixture
def state(tmp_path: Path) -> Iterator[RequestStore]:
    store = RequestStore(str(tmp_path / "tokens.db"))
    yield store
    store.close()


def asker(state: RequestStore, *headers: str | None) -> list[Asker | None]:
    """Who sends these headers, one after the other; None where nobody does."""

    async def ask() -> list[Asker | None]:
        checker = Tokens(state)
        askers: list[Asker | None] = []
        for header in headers:
            try:
                askers.append(await checker.asker(header))
            except ProblemError as stopped:
                askers.append(
                    None if stopped.problem is UNNAMED else Asker("another problem", "", None, 0)
                )
        return askers

    return asyncio.run(ask())


def test_a_token_names_its_holder(state: RequestStore) -> None:
    token = create_token(state, name="ada", role="analyst", datasets=["visits"], days=3)
    (row,) = state.tokens()
    assert (
        asker(state, f"Bearer {token}", f"bearer  {token} ")
        == [Asker("ada", "analyst", frozenset({"visits"}), row.expires)] * 2
    )
    assert row.expires - row.created == 3 * DAY


def test_what_is_kept_is_a_hash(state: RequestStore, tmp_path: Path) -> None:
    secret = create_token(state, name="ada", role="analyst").split("_", 2)[
        2
    ]  # which may have a _ of its own
    (row,) = state.tokens()
    assert row.hash.startswith("$argon2id$")
    assert all(secret.encode() not in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("umask", [0, 0o022, 0o277], ids=oct)
def test_the_file_is_for_its_owner_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        state = RequestStore(str(tmp_path / "tokens.db"))
        create_token(state, name="ada", role="analyst")
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        state.close()
    finally:
        os.umask(before)
    assert modes == {"tokens.db": 0o600, "tokens.db-wal": 0o600, "tokens.db-shm": 0o600}


def test_secrets_are_long_and_differ(state: RequestStore) -> None:
    assert BITS >= 256
    secrets = [create_token(state, name="ada", role="analyst").split("_", 2)[2] for _ in range(8)]
    assert len(set(secrets)) == 8
    assert {len(secret) for secret in secrets} == {43}  # of six bits each


def test_another_secret_is_nobody(state: RequestStore) -> None:
    token = create_token(state, name="ada", role="analyst")
    wrong_token = token[:-1] + ("A" if token[-1] != "A" else "B")
    wrong = [
        "",
        "Bearer",
        "Bearer x",
        f"Basic {token}",
        token,
        f"Bearer {token}x",
        f"Bearer {wrong_token}",
        "Bearer sft_" + "a" * 16 + token[20:],
    ]
    assert asker(state, None, *wrong) == [None] * (len(wrong) + 1)


def test_a_token_that_was_verified_still_ends_at_once(
    state: RequestStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = create_token(state, name="ada", role="analyst")

    async def ask() -> list[Any]:
        checker, outcomes = Tokens(state), []
        outcomes.append((await checker.asker(f"Bearer {token}")).name)
        state.revoke(token.split("_")[1])
        try:
            await checker.asker(f"Bearer {token}")
        except ProblemError as stopped:
            outcomes.append(stopped.problem.code)
        return outcomes

    assert asyncio.run(ask()) == ["ada", "server.token"]


def test_an_old_token_is_nobody(state: RequestStore, monkeypatch: pytest.MonkeyPatch) -> None:
    token = create_token(state, name="ada", role="analyst", days=1)
    now = tokens.time.time()
    monkeypatch.setattr(tokens.time, "time", lambda: now + DAY + 1)
    assert asker(state, f"Bearer {token}") == [None]


def test_argon2_is_paid_once(state: RequestStore, monkeypatch: pytest.MonkeyPatch) -> None:
    token = create_token(state, name="ada", role="analyst")
    calls: list[str] = []
    true = tokens._verify
    monkeypatch.setattr(tokens, "_verify", lambda *arguments: calls.append("") or true(*arguments))
    assert None not in asker(state, *[f"Bearer {token}"] * 5)
    assert len(calls) == 1


@pytest.mark.parametrize(
    "how",
    [
        {"name": "a b"},
        {"name": ""},
        {"role": "king"},
        {"datasets": ["a b"]},
        {"days": 0},
        {"days": 10**6},
    ],
    ids=lambda how: next(iter(how)),
)
def test_what_no_token_is_made_for(state: RequestStore, how: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        create_token(state, **{"name": "ada", "role": "analyst", **how})
    assert state.tokens() == []
