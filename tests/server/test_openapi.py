"""The document says of every endpoint whom it is for, what it takes, and every way it may end."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest

from sfumato.server.http.asgi_app import create
from sfumato.server.http.openapi import EVERY, LINKS, PARAMETERS
from sfumato.server.roles import MAY

from .service import service


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    app = create(service(tmp_path_factory.mktemp("openapi")).path)
    yield app.openapi()
    app.state.curator.close()


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), path): about
        for path, methods in document["paths"].items()
        for method, about in methods.items()
    }


def test_every_endpoint_and_no_other(document: dict[str, Any]) -> None:
    assert set(operations(document)) == set(MAY)


@pytest.mark.parametrize("place", sorted(MAY), ids=lambda place: f"{place[0]} {place[1]}")
def test_an_endpoint(document: dict[str, Any], place: tuple[str, str]) -> None:
    about = operations(document)[place]
    assert set(about.get("x-roles", ())) == MAY[place]
    assert ("security" in about and bool(about["security"])) == bool(MAY[place])
    expected = (
        {200, *EVERY}
        | ({401} if MAY[place] else set())
        | ({404} if "{dataset}" in place[1] else set())
        | ({400, 422, 415} if place[0] == "POST" else set())
    )
    statuses = {int(status) for status in about["responses"]}
    assert expected <= statuses
    for status, reply in about["responses"].items():
        assert reply["content"]
        assert int(status) == 200 or set(reply["content"]) == {"application/problem+json"}
        assert reply["description"] == (
            "Done" if status == "200" else HTTPStatus(int(status)).phrase
        )
    named = {name for name in PARAMETERS if f"{{{name}}}" in place[1]}
    assert named <= {parameter["name"] for parameter in about.get("parameters", ())}
    assert len({parameter["name"] for parameter in about.get("parameters", ())}) == len(
        about.get("parameters", ())
    )


def test_references_are_there(document: dict[str, Any]) -> None:
    def referred(part: Any) -> set[str]:
        if isinstance(part, dict):
            references = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
            return references.union(*(referred(child) for child in part.values()))
        return (
            set().union(*(referred(child) for child in part)) if isinstance(part, list) else set()
        )

    schemas = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert referred(document) <= schemas


def test_a_question_is_described_as_it_is_read(document: dict[str, Any]) -> None:
    question = document["components"]["schemas"]["Question"]
    assert question["additionalProperties"] is False
    assert question["required"] == ["sql"]
    assert {"type": "null"} not in [
        kind for about in question["properties"].values() for kind in about.get("anyOf", ())
    ]


def test_links_lead_to_endpoints(document: dict[str, Any]) -> None:
    names = {about["operationId"] for about in operations(document).values()}
    assert {to for links in LINKS.values() for to in links} | set(LINKS) <= names
