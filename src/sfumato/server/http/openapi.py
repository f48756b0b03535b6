"""The OpenAPI document: every endpoint with every status that it may end with, and the roles that
it is for (`x-roles`).
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from ..roles import MAY
from .problems import MEDIA
from .request_models import Question
from .response_models import Problem

REF = "#/components/schemas/{model}"
EVERY = (400, 413, 414, 429, 431, 500)
"""What any request may end with."""
TOKEN = (401, 503, *EVERY)
DATASET = (404, *TOKEN)
ASKS = (400, 403, 408, 415, 422, *DATASET)

PARAMETERS: dict[str, dict[str, Any]] = {
    "dataset": {
        "in": "path",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$"},
    },
    "number": {
        "in": "path",
        "schema": {"type": "integer", "minimum": 1, "maximum": 10**18 - 1},
        "description": "Of the receipt.",
    },
    "after": {
        "in": "query",
        "schema": {"type": "integer", "minimum": 0, "maximum": 10**18 - 1, "default": 0},
        "description": "The last entry already seen.",
    },
    "limit": {
        "in": "query",
        "schema": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
        "description": "How many entries.",
    },
    "Idempotency-Key": {
        "in": "header",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
        "description": "One for each question; a retry has the same, and gets the same bytes.",
    },
}
"""What a request may say beside its body. It is checked by the endpoints themselves, after the
token and the dataset.
"""

_DATASET = {"dataset": "$response.body#/0/name"}
_SAME = {"dataset": "$request.path.dataset"}
LINKS: dict[str, dict[str, dict[str, str]]] = {
    "datasets": dict.fromkeys(
        ("dataset", "plan", "release", "history", "budget", "verify", "overruns"), _DATASET
    ),
    "release": {
        "card": {**_SAME, "number": "$response.body#/receipt/number"},
        "budget": _SAME,
        "history": _SAME,
    },
    "budget": {"history": _SAME, "verify": _SAME},
}
"""What may be asked next with what a reply says: by operation, the operations and their
parameters.
"""

EXAMPLES = {
    "by epsilon": {
        "value": {"sql": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city", "epsilon": "0.1"}
    },
    "by accuracy": {"value": {"sql": "SELECT COUNT(*) AS n FROM visits", "within": 100}},
}


def replies(
    *statuses: int, model: Any = None, content: dict[str, Any] | None = None
) -> dict[int | str, dict[str, Any]]:
    """What FastAPI is told of an endpoint's statuses."""
    found: dict[int | str, dict[str, Any]] = {200: {"description": "Done"}}
    if model is not None:
        found[200]["model"] = model
    if content is not None:
        found[200]["content"] = content
    for status in sorted(set(statuses)):
        headers: dict[str, Any] = (
            {
                "Retry-After": {
                    "schema": {"type": "string"},
                    "description": "Seconds",
                    "required": True,
                }
            }
            if status == 429
            else {}
        )
        headers |= (
            {
                "WWW-Authenticate": {
                    "schema": {"type": "string"},
                    "description": "Bearer",
                    "required": True,
                }
            }
            if status == 401
            else {}
        )
        problem = {"schema": {"$ref": REF.format(model="Problem")}}
        found[status] = {"description": HTTPStatus(status).phrase, "content": {MEDIA: problem}} | (
            {"headers": headers} if headers else {}
        )
    return found


def takes(*names: str) -> dict[str, Any]:
    """What FastAPI is told of an endpoint's parameters."""
    required = {"path", "header"}
    return {
        "parameters": [
            {"name": name, "required": PARAMETERS[name]["in"] in required, **PARAMETERS[name]}
            for name in names
        ]
    }


def asks_question() -> dict[str, Any]:
    """The body of a plan and of a release."""
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": REF.format(model="Question")},
                    "examples": EXAMPLES,
                }
            },
        }
    }


def document(app: FastAPI) -> dict[str, Any]:
    """The whole document, made once."""
    if app.openapi_schema:
        return app.openapi_schema
    made = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    _, models = models_json_schema(
        [(Question, "validation"), (Problem, "serialization")], ref_template=REF
    )
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    schemas |= {
        name: _said_or_not(schema) if name in ("Question", "PromiseRecord") else schema
        for name, schema in models["$defs"].items()
    }
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            if "HTTPValidationError" in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
            if operation["operationId"] in LINKS:
                operation["responses"]["200"]["links"] = {
                    to: {"operationId": to, "parameters": said}
                    for to, said in LINKS[operation["operationId"]].items()
                }
            roles = MAY.get((method.upper(), path))
            if roles:
                operation["security"] = [{"token": []}]
                operation["x-roles"] = sorted(roles)
    app.openapi_schema = made
    return made


def _said_or_not(schema: dict[str, Any]) -> dict[str, Any]:
    """What is not said is left out, not null."""
    properties = {}
    for name, given in schema["properties"].items():
        about = {key: value for key, value in given.items() if key != "default"}
        if "anyOf" in about:
            kinds = [kind for kind in about.pop("anyOf") if kind != {"type": "null"}]
            about |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        properties[name] = about
    return {**schema, "properties": properties}
