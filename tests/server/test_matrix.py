"""Who may do what: every endpoint of the document, for everybody, on their own dataset, on one of
others and on one that does not exist.
"""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from .service import SQL, Running

pytestmark = pytest.mark.xdist_group("server")

PEOPLE = {
    "none": None,
    "owner": "owner",
    "analyst": "ada",
    "auditor": "auditor",
    "revoked": "revoked",
    "expired": "expired",
}
NOBODY = ("none", "revoked", "expired")
WHERE = {"own": "visits", "foreign": "clinic", "nonexistent": "nothing-of-this-name"}

EVERYBODY = dict.fromkeys(PEOPLE, 200)
ALL = {"none": 401, "owner": 200, "analyst": 200, "auditor": 200, "revoked": 401, "expired": 401}
ANALYST = {**ALL, "owner": 403, "auditor": 403}
LOOKS = {**ALL, "analyst": 403}
OWNER = {**LOOKS, "auditor": 403}

MATRIX: dict[tuple[str, str], dict[str, int]] = {
    ("get", "/api/health"): EVERYBODY,
    ("get", "/api/me"): ALL,
    ("get", "/api/datasets"): ALL,
    ("get", "/api/datasets/{dataset}"): ALL,
    ("post", "/api/datasets/{dataset}/plan"): ANALYST,
    ("post", "/api/datasets/{dataset}/release"): ANALYST,
    ("get", "/api/datasets/{dataset}/history"): ALL,
    ("get", "/api/datasets/{dataset}/budget"): ALL,
    ("get", "/api/datasets/{dataset}/cards/{number}"): ALL,
    ("get", "/api/datasets/{dataset}/verify"): LOOKS,
    ("get", "/api/datasets/{dataset}/overruns"): OWNER,
}
"""Written by hand: what each role gets on its own dataset. On any other, whoever has a valid token
gets 404.
"""

EPSILON = {
    "bob": "0.25"
}  # another question than ada's: the same would be answered by what she was told


def expected(path: str, status: int, where: str) -> int:
    return 404 if "{dataset}" in path and where != "own" and status in (200, 403) else status


def sent(
    service: Running,
    method: str,
    path: str,
    who: str | None,
    dataset: str,
    number: int,
    key: str = "matrix-1",
) -> httpx.Response:
    """One request of the matrix."""
    url = service.url + path.replace("{dataset}", dataset).replace("{number}", str(number))
    headers = service.deployment.header(who) | (
        {"Idempotency-Key": key} if path.endswith("/release") else {}
    )
    body: dict[str, Any] = (
        {"json": {"sql": SQL, "epsilon": EPSILON.get(who or "", "0.125")}}
        if method == "post"
        else {}
    )
    return service.http.request(method.upper(), url, headers=headers, **body)


@pytest.fixture(scope="module")
def paid(service: Running) -> dict[str, int]:
    """Receipts of two analysts."""
    receipts = {}
    for who in ("ada", "bob"):
        reply = sent(
            service, "post", "/api/datasets/{dataset}/release", who, "visits", 0, key=f"{who}-1"
        )
        assert reply.status_code == 200, reply.text
        receipts[who] = reply.json()["receipt"]["number"]
    return receipts


@pytest.fixture(scope="module")
def document(service: Running) -> dict[str, Any]:
    openapi: dict[str, Any] = service.http.get(f"{service.url}/openapi.json").json()
    return openapi


def test_no_endpoint_is_missing_from_the_matrix(document: dict[str, Any]) -> None:
    assert {
        (method, path) for path, operations in document["paths"].items() for method in operations
    } == set(MATRIX)


def test_a_missing_endpoint_would_be_seen(document: dict[str, Any]) -> None:
    """The twin."""
    paths = {**document["paths"], "/api/datasets/{dataset}/rows": {"get": {}}}
    assert {(method, path) for path, operations in paths.items() for method in operations} != set(
        MATRIX
    )


def test_the_document_says_the_same(document: dict[str, Any]) -> None:
    for (method, path), row in MATRIX.items():
        operation = document["paths"][path][method]
        assert operation.get("x-roles", []) == sorted(
            role
            for role in ("analyst", "auditor", "owner")
            if row["none"] == 401 and row[role] == 200
        ), path
        assert bool(operation.get("security")) == (row["none"] == 401), path
        assert {str(status) for status in row.values()} <= set(operation["responses"]), path


@pytest.mark.parametrize(("method", "path"), MATRIX, ids=lambda value: value)
def test_everybody_everywhere(
    service: Running, document: dict[str, Any], paid: dict[str, int], method: str, path: str
) -> None:
    for where, dataset in WHERE.items() if "{dataset}" in path else [("own", "")]:
        for person, who in PEOPLE.items():
            reply = sent(service, method, path, who, dataset, paid["ada"])
            expected_status = expected(path, MATRIX[method, path][person], where)
            assert reply.status_code == expected_status, (person, where, reply.text)
            assert str(expected_status) in document["paths"][path][method]["responses"]
            if expected_status >= 400:
                assert reply.headers["content-type"] == "application/problem+json"
                assert set(reply.json()) == {
                    "type",
                    "title",
                    "status",
                    "code",
                    "place",
                    "reason",
                    "rewrite",
                }
            if expected_status == 401:
                assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "path"),
    [route for route in MATRIX if "{dataset}" in route[1]],
    ids=lambda value: value,
)
def test_what_is_foreign_is_as_if_it_did_not_exist(
    service: Running, paid: dict[str, int], method: str, path: str
) -> None:
    """To the byte, headers and all, whatever the role; and without a valid token nothing differs at
    all.
    """
    for person, who in PEOPLE.items():
        replies = [
            sent(service, method, path, who, WHERE[where], paid["ada"])
            for where in ("foreign", "nonexistent")
        ]
        replies += (
            [sent(service, method, path, who, WHERE["own"], paid["ada"])]
            if person in NOBODY
            else []
        )
        assert (
            len(
                {
                    (reply.status_code, reply.content, tuple(sorted(reply.headers.items())))
                    for reply in replies
                }
            )
            == 1
        ), person
    nobody = {
        sent(service, method, path, PEOPLE[person], "visits", paid["ada"]).content
        for person in NOBODY
    }
    assert len(nobody) == 1


def test_one_analyst_is_nobody_to_another(service: Running, paid: dict[str, int]) -> None:
    """A card of somebody else's is like one that was never made, and the history has no line of
    others.
    """
    path = "/api/datasets/{dataset}/cards/{number}"
    assert sent(service, "get", path, "ada", "visits", paid["ada"]).status_code == 200
    foreign, none = (
        sent(service, "get", path, "ada", "visits", number) for number in (paid["bob"], 10**9)
    )
    assert (foreign.status_code, foreign.content, foreign.headers.raw) == (
        none.status_code,
        none.content,
        none.headers.raw,
    )
    assert foreign.status_code == 404
    for who in ("ada", "bob"):
        page = sent(service, "get", "/api/datasets/{dataset}/history", who, "visits", 0).json()
        assert {entry["who"] for entry in page["entries"]} == {who}
    shares = [
        sent(service, "get", "/api/datasets/{dataset}/budget", who, "visits", 0).json()["shares"]
        for who in ("ada", "owner")
    ]
    assert shares[0] is None
    assert {"ada", "bob"} <= {share["name"] for share in shares[1]}


def test_a_key_is_its_askers_own(service: Running, paid: dict[str, int]) -> None:
    """The same key from another analyst is another request; with another body it is refused."""
    path = "/api/datasets/{dataset}/release"
    mine, again = (sent(service, "post", path, "ada", "visits", 0, key="ada-1") for _ in range(2))
    assert mine.content == again.content
    bobs_reply = sent(service, "post", path, "bob", "visits", 0, key="ada-1")
    assert bobs_reply.status_code == 200
    url = f"{service.url}/api/datasets/visits/release"
    changed = service.http.post(
        url,
        headers=service.deployment.header("ada") | {"Idempotency-Key": "ada-1"},
        json={"sql": SQL, "epsilon": "0.5"},
    )
    assert changed.status_code == 409
    assert json.loads(changed.content)["code"] == "server.key"


def test_who_was_given_an_answer_has_its_card(service: Running, paid: dict[str, int]) -> None:
    """The stored answer to another's question is on one's own account, and so is its card."""
    body = {
        "json": {"sql": SQL, "epsilon": "0.125"},
        "headers": service.deployment.header("bob") | {"Idempotency-Key": "bob-2"},
    }
    reply = service.http.post(f"{service.url}/api/datasets/visits/release", **body).json()
    assert reply["recalled"]
    assert reply["receipt"]["number"] == paid["ada"]
    assert (
        sent(
            service, "get", "/api/datasets/{dataset}/cards/{number}", "bob", "visits", paid["ada"]
        ).status_code
        == 200
    )


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Basic YTpi",
        "Bearer sft_aaaaaaaaaaaaaaaa_" + "A" * 43,
        "Bearer " + "x" * 4000,
        "bearer\t1",
        "Bearer é",
    ],
)
def test_other_headers_are_nobody(service: Running, header: str) -> None:
    without_header = service.http.get(f"{service.url}/api/me")
    reply = service.http.get(
        f"{service.url}/api/me", headers={b"Authorization": header.encode("latin-1")}
    )
    assert (reply.status_code, reply.content) == (401, without_header.content)
