"""Who may do what, and see what."""

from __future__ import annotations

from sfumato.server.roles import MAY, ROLES, Asker


def test_roles_are_known() -> None:
    assert {role for roles in MAY.values() for role in roles} == set(ROLES)


def test_only_analysts_ask() -> None:
    assert {path for (method, path), roles in MAY.items() if method == "POST"} == {
        path for (_, path), roles in MAY.items() if roles == {"analyst"}
    }


def test_what_a_token_sees() -> None:
    analyst, every = (
        Asker("ada", "analyst", frozenset({"visits"}), 0),
        Asker("olga", "owner", None, 0),
    )
    assert (analyst.sees("visits"), analyst.sees("clinic"), every.sees("clinic")) == (
        True,
        False,
        True,
    )
