"""The endpoints. `roles.MAY` lists who may call each; each calls one function. The order of
refusals is token, rate, dataset, role, question.
"""

from __future__ import annotations

import asyncio
import base64
import datetime
import hashlib
import re

from fastapi import APIRouter, Request
from starlette.responses import Response

from ... import __version__
from ...errors import Refused
from ...ledger.receipts import Head
from .. import dataset_schema, ledger_views
from .. import server_refusals as refusals
from ..datasets import Served
from ..plan_views import look_up_plan
from ..releases import answer_request
from ..roles import MAY, Asker
from ..service import CuratorService
from . import response_models as models
from .encode_replies import ARROW, CSV, FORMS, JSON, dumped
from .openapi import ASKS, DATASET, EVERY, PARAMETERS, TOKEN, asks_question, replies, takes
from .problems import ACCEPT, MEDIA_TYPE, NO_KEY, RATE, UNKNOWN, Problem, ProblemError
from .request_limits import Buckets
from .request_models import Question, read

_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
KEY = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
HTML = "text/html"
BINARY = {"schema": {"type": "string", "format": "binary"}}
TEXT = {"schema": {"type": "string"}}

router = APIRouter(prefix="/api")


@router.get(
    "/health",
    responses=replies(*EVERY),
    summary="Whether the service is up",
    openapi_extra={"security": []},
)
async def health() -> models.HealthModel:
    return models.HealthModel(status="ok", version=__version__)


@router.get("/me", responses=replies(*TOKEN), summary="Who the token is for")
async def me(request: Request) -> models.MeModel:
    asker, curator = await _asker(request), _curator(request)
    expires = datetime.datetime.fromtimestamp(asker.expires, datetime.UTC).isoformat(
        timespec="seconds"
    )
    visible = [name for name in curator.served if asker.sees(name)]
    return models.MeModel(name=asker.name, role=asker.role, expires=expires, datasets=visible)


@router.get("/datasets", responses=replies(*TOKEN))
async def datasets(request: Request) -> list[models.ShortModel]:
    """The datasets that the token may see."""
    asker, curator = await _asker(request), _curator(request)
    return [
        dataset_schema.summarize(served)
        for name, served in curator.served.items()
        if asker.sees(name)
    ]


@router.get("/datasets/{dataset}", responses=replies(*DATASET), openapi_extra=takes("dataset"))
async def dataset(request: Request) -> models.SchemaModel:
    """What is public of a dataset: tables, columns, types, bounds, keys, limits."""
    _, served = await _authorize(request)
    return dataset_schema.describe(served, _curator(request).config)


@router.post(
    "/datasets/{dataset}/plan",
    response_model=models.PlanModel,
    responses=replies(*ASKS),
    openapi_extra=takes("dataset") | asks_question(),
)
async def plan(request: Request) -> Response:
    """What a question would cost and how exact its answer would be. Reads no data, costs
    nothing.
    """
    asker, served = await _authorize(request)
    curator = _curator(request)
    question = await _question(request)
    canonical = question.canonical()
    planned = await curator.plans.plan(served, asker.name, question, canonical)
    if asker.name not in served.shares:
        await asyncio.to_thread(served.share, asker.name)
    reply = await curator.look(
        look_up_plan, planned, served, asker.name, curator.config.releases(served.name)
    )  # one hop to a thread for all
    return Response(reply, media_type=JSON)


@router.post(
    "/datasets/{dataset}/release",
    response_model=models.ReleaseModel,
    responses=replies(402, 406, 409, 410, *ASKS, content={CSV: TEXT, ARROW: BINARY}),
    openapi_extra=takes("dataset", "Idempotency-Key") | asks_question(),
)
async def release(request: Request) -> Response:
    """Charge, then answer. The answer is stored before its first byte leaves; the same key again
    gets the same bytes.
    """
    asker, served = await _authorize(request)
    keys = request.headers.getlist("idempotency-key")
    if len(keys) != 1 or not KEY.fullmatch(keys[0]):
        raise ProblemError(NO_KEY)
    media = _choose_media(request, FORMS)
    question = await _question(request)
    return Response(
        await answer_request(_curator(request), served, asker, question, keys[0], media),
        media_type=media,
    )


@router.get(
    "/datasets/{dataset}/history",
    responses=replies(422, *DATASET),
    openapi_extra=takes("dataset", "after", "limit"),
)
async def history(request: Request) -> models.HistoryModel:
    """A page of the ledger's entries, oldest first: the own ones of an analyst, all for owner and
    auditor.
    """
    asker, served = await _authorize(request)
    after, limit = (_integer_parameter(request, name) for name in ("after", "limit"))
    state = _curator(request).state
    return await asyncio.to_thread(ledger_views.history, served, asker, after, limit, state)


@router.get(
    "/datasets/{dataset}/budget", responses=replies(*DATASET), openapi_extra=takes("dataset")
)
async def budget(request: Request) -> models.BudgetModel:
    """What is promised, spent and left."""
    asker, served = await _authorize(request)
    return await asyncio.to_thread(ledger_views.budget, served, asker)


@router.get(
    "/datasets/{dataset}/cards/{number}",
    response_model=models.CardModel,
    responses=replies(406, *DATASET, content={HTML: TEXT}),
    openapi_extra=takes("dataset", "number"),
)
async def card(request: Request) -> Response:
    """The release card of an answer, by the number of its receipt."""
    asker, served = await _authorize(request)
    media = _choose_media(request, (JSON, HTML))
    number = request.path_params["number"]
    if not _NUMBER.fullmatch(number):
        raise ProblemError(UNKNOWN)
    curator = _curator(request)
    release_card = await asyncio.to_thread(
        ledger_views.card,
        served,
        asker,
        int(number),
        curator.state,
        curator.config.deadlines[-1] + ledger_views.GRACE,
    )
    if media == JSON:
        return Response(dumped(release_card.to_dict()), media_type=JSON)
    page = release_card.to_html()
    styles = [
        hashlib.sha256(style_digest.encode()).digest()
        for style_digest in re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    ]
    allowed = (
        " ".join(f"'sha256-{base64.b64encode(style_digest).decode()}'" for style_digest in styles)
        or "'none'"
    )
    return Response(
        page,
        media_type=HTML,
        headers={
            "Content-Security-Policy": (
                f"default-src 'none'; style-src {allowed}; frame-ancestors 'none'"
            )
        },
    )


@router.get(
    "/datasets/{dataset}/verify",
    responses=replies(403, 422, *DATASET),
    openapi_extra=takes("dataset", "head"),
)
async def verify(request: Request) -> models.VerifiedModel:
    """Check the ledger against itself, against the head that the service kept, and against a head
    that you kept: all of it, or what is new since a check of the last hour.
    """
    asker, served = await _authorize(request)
    state = _curator(request).state
    heads = request.query_params.getlist("head")
    try:
        kept_head = Head.read(" ".join(heads)) if heads else None
    except Refused:
        raise ProblemError(Problem.of(refusals.HEAD_WRONG())) from None
    return await asyncio.to_thread(
        lambda: ledger_views.verify_ledger(
            served, alone=asker.datasets is None, head=state.head(served.name), kept_head=kept_head
        )
    )


@router.get(
    "/datasets/{dataset}/overruns", responses=replies(403, *DATASET), openapi_extra=takes("dataset")
)
async def overruns(request: Request) -> models.OverrunsModel:
    """How many answers were not made by their deadlines, by analyst. This number may depend on
    data: it is for the owner alone.
    """
    _, served = await _authorize(request)
    by = await asyncio.to_thread(_curator(request).state.overruns, served.name)
    return models.OverrunsModel(count=sum(by.values()), by=by)


def _curator(request: Request) -> CuratorService:
    curator: CuratorService = request.app.state.curator
    return curator


async def _asker(request: Request) -> Asker:
    """Return the holder of the token; refuse beyond the rate limit."""
    asker = await _curator(request).tokens.asker(request.headers.get("authorization"))
    buckets: Buckets = request.app.state.buckets
    if not buckets.allows(asker.name):
        raise ProblemError(RATE)
    return asker


async def _authorize(request: Request) -> tuple[Asker, Served]:
    """Return the holder of the token and the dataset, if the token may see it and its role may call
    this endpoint.
    """
    asker = await _asker(request)
    return asker, _curator(request).dataset(
        asker, request.path_params["dataset"], MAY[request.method, request.scope["route"].path]
    )


def _integer_parameter(request: Request, name: str) -> int:
    """Read an integer query parameter, within the limits of the OpenAPI document."""
    allowed = PARAMETERS[name]["schema"]
    values = request.query_params.getlist(name)
    if not values:
        return int(allowed["default"])
    if (
        len(values) != 1
        or not _NUMBER.fullmatch(values[0])
        or not allowed["minimum"] <= int(values[0]) <= allowed["maximum"]
    ):
        refusal = refusals.PARAMETER_WRONG(
            name=name, low=allowed["minimum"], high=allowed["maximum"], default=allowed["default"]
        )
        raise ProblemError(Problem.of(refusal))
    return int(values[0])


async def _question(request: Request) -> Question:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise ProblemError(MEDIA_TYPE)
    return read(await request.body())


def _choose_media(request: Request, forms_: tuple[str, ...]) -> str:
    """Return the media type that the client prefers."""
    header = request.headers.get("accept", "*/*")
    accepted = sorted(
        (_parse_accept(part) for part in header.split(",") if part.strip()),
        key=lambda pair: -pair[1],
    )
    for form, weight in accepted:
        for media in forms_ if weight > 0 else ():
            if form in (media, "*/*", media.partition("/")[0] + "/*"):
                return media
    raise ProblemError(ACCEPT)


def _parse_accept(part: str) -> tuple[str, float]:
    form, *parameters = (text.strip() for text in part.split(";"))
    weight = next((text[2:] for text in parameters if text.startswith("q=")), "1")
    try:
        return form.lower(), float(weight)
    except ValueError:
        return form.lower(), 0.0
