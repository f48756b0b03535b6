"""What the owner says of a service: datasets with their declarations and budgets, and how it is
run. One TOML file, read the same in every process.

*Exact*     Numbers with a point are read as they are written, 0.1 as one tenth.
*Paths*     are relative to the file's folder. An address of PostgreSQL may stand for a path.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import restore
from ..session.promises import budget_of
from ..tables.declare.declaration import Declaration

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
PERSON = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}")
_URL = re.compile(r"postgres(ql)?://", re.IGNORECASE)
_SIZE = re.compile(r"([0-9]{1,6}) ?(MiB|GiB)")
_UNITS = {"MiB": 2**20, "GiB": 2**30}
DECLARED = (
    "unit",
    "bounds",
    "keys",
    "types",
    "max_rows",
    "max_groups",
    "table_rows",
    "relation",
    "version",
    "bounding",
    "links",
    "table",
)
"""What is said of a dataset as `sf.protect` would be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset behind the wall: where it is, what is declared of it, how much in total, and how
    much for whom.
    """

    name: str
    source: Any = field(repr=False)
    public: Mapping[str, str] | None = field(default=None, repr=False)
    budget: Guarantee
    about: str = ""
    declared: Mapping[str, Any] = field(default_factory=dict)
    analysts: Mapping[str, Guarantee] = field(default_factory=dict)
    deadline: float | None = None
    most_releases: int | None = None  # None: as the service says
    overruns: Mapping[str, int] = field(
        default_factory=dict
    )  # of whom the service's number does not hold
    ledger: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Requests a second in the long run, and how many at once."""

    per_second: float
    burst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A service. `text` and `folder` are what it was read from: a worker process reads the same
    again.
    """

    text: str = field(repr=False)
    folder: Path
    datasets: Mapping[str, Dataset]
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    tokens: str = field(repr=False)
    deadlines: tuple[float, ...] = (0.25, 1.0, 4.0, 16.0)
    memory: int = 2 * 2**30
    children: int = 1
    overruns_per_analyst: int = 5
    most_releases: int = 1000
    plan_seconds: float = 2.0
    planning_per_minute: float = 20.0
    waiting_per_analyst: int = 20
    answer_bytes: int = 2**23
    stored_per_analyst: int = 2**30
    connections_per_address: int = 100
    keep_days: int = 90
    token_rate: Rate = Rate(per_second=50, burst=200)
    address_rate: Rate = Rate(per_second=100, burst=400)
    tls_cert: str | None = None
    tls_key: str | None = field(default=None, repr=False)

    def releases(self, dataset: str) -> int:
        """How many releases the budget of a dataset pays for, at most: each costs at least this
        part of it.
        """
        own = self.datasets[dataset].most_releases
        return self.most_releases if own is None else own

    def overruns(self, dataset: str, who: str) -> int:
        """How many overruns an analyst may have."""
        return self.datasets[dataset].overruns.get(who, self.overruns_per_analyst)


def load(path: str | Path) -> Config:
    """The service that a file declares."""
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise Refused(
            "server.config",
            place.name,
            "this file cannot be read as text",
            "sfumato serve sfumato.toml",
        ) from None
    return read(text, place.absolute().parent)


def read(text: str, folder: Path) -> Config:
    """The service that a text declares, with paths relative to a folder."""
    try:
        said = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        raise _wrong("the file", "this is not TOML", "[server] and [datasets.visits]") from None
    _known(said, ("server", "datasets"), "the file")
    server, datasets = said.get("server", {}), said.get("datasets", {})
    if not isinstance(server, dict) or not isinstance(datasets, dict) or not datasets:
        raise _wrong(
            "[datasets]",
            "a service has [server] and at least one [datasets.NAME]",
            '[datasets.visits] with source = "visits.parquet"',
        )
    _known(server, (*_SERVER, "ledger", "tokens", "rate"), "[server]")
    ledger = _place("ledger", server.get("ledger", "curator.ledger"), folder)
    tokens = server.get("tokens", ledger if _URL.match(ledger) else "tokens.db")
    given: dict[str, Any] = {
        name: check(f"[server] {name}", server[name])
        for name, check in _SERVER.items()
        if name in server
    }
    found = {name: _dataset(name, about, folder, ledger) for name, about in datasets.items()}
    accounts: dict[tuple[str, str], str] = {}
    for name, one in found.items():
        if (other := accounts.setdefault((one.ledger, one.declared["name"]), name)) != name:
            reason = (
                f"its account in the ledger would be that of {other}, with its budget and "
                f"its stored answers"
            )
            raise _wrong(
                f"[datasets.{name}] name",
                reason,
                "another name in the declaration, or another ledger",
            )
    _apart(found)
    for name in ("tls_cert", "tls_key"):
        given |= {name: str(folder / given[name])} if name in given else {}
    if ("tls_cert" in given) != ("tls_key" in given):
        raise _wrong(
            "[server] tls_cert, tls_key",
            "a certificate and its key go together",
            'tls_cert = "server.crt", tls_key = "server.key"',
        )
    given |= _rates(server.get("rate", {}))
    return Config(
        text=text, folder=folder, datasets=found, tokens=_place("tokens", tokens, folder), **given
    )


def _dataset(name: str, about: Any, folder: Path, ledger: str) -> Dataset:
    where = f"[datasets.{name:.60}]"
    if not NAME.fullmatch(name) or not isinstance(about, dict):
        raise _wrong(
            where, "a dataset has a name of up to 64 letters, digits, - and _", "[datasets.visits]"
        )
    _known(
        about,
        (
            *DECLARED,
            "source",
            "public",
            "budget",
            "about",
            "analysts",
            "deadline",
            "declaration",
            "ledger",
            "most_releases",
            "overruns",
        ),
        where,
    )
    if "source" not in about or "budget" not in about:
        raise _wrong(
            where, "a dataset has a source and a budget", 'source = "visits.parquet" and budget = 1'
        )
    declared: dict[str, Any] = {key: about[key] for key in DECLARED if key in about}
    if "declaration" in about:
        if declared:
            raise _wrong(
                f"{where} declaration",
                "it stands alone: it says all that the other keys could",
                "one of the two",
            )
        declared = _read_declaration(folder / _text(f"{where} declaration", about["declaration"]))
    analysts = about.get("analysts", {})
    if not isinstance(analysts, dict) or not all(PERSON.fullmatch(person) for person in analysts):
        raise _wrong(
            f"{where} analysts",
            "budgets of analysts, by their names",
            "[datasets.visits.analysts] with ada = 0.3",
        )
    overruns = about.get("overruns", {})
    if not isinstance(overruns, dict) or not all(PERSON.fullmatch(person) for person in overruns):
        raise _wrong(
            f"{where} overruns",
            "numbers of overruns, by the names of analysts",
            "[datasets.visits.overruns] with ada = 10",
        )
    return Dataset(
        name=name,
        source=_sources(f"{where} source", about["source"], folder),
        public=_sources(f"{where} public", about["public"], folder) if "public" in about else None,
        budget=_budget(f"{where} budget", about["budget"]),
        about=_text(f"{where} about", about.get("about", "")),
        declared={**declared, "name": declared.get("name") or name},
        analysts={
            person: _budget(f"{where} analysts.{person}", amount)
            for person, amount in analysts.items()
        },
        deadline=_seconds(f"{where} deadline", about["deadline"]) if "deadline" in about else None,
        most_releases=_RELEASES(f"{where} most_releases", about["most_releases"])
        if "most_releases" in about
        else None,
        overruns={
            person: _OVERRUNS(f"{where} overruns.{person}", number)
            for person, number in overruns.items()
        },
        ledger=_place("ledger", about["ledger"], folder) if "ledger" in about else ledger,
    )


def _apart(datasets: Mapping[str, Dataset]) -> None:
    """Refuse data that two datasets would answer about: each would have a budget of its own, and
    together they would promise less than either says.
    """
    protected: dict[
        Any, dict[str, str]
        # by file or database, the tables of it that are protected, and the datasets that they
        # belong to
    ] = {}
    for name, one in datasets.items():
        for place, table in dict.fromkeys(_identities(one.source, one.declared.get("table", ""))):
            if (other := _owner(protected, place, table)) not in (None, name):
                reason = (
                    f"its data is also that of {other}: two budgets for the same people "
                    f"would add up unseen"
                )
                raise _wrong(
                    f"[datasets.{name}] source",
                    reason,
                    "one dataset, with a share for each analyst under [datasets.NAME.analysts]",
                )
            protected.setdefault(place, {})[table] = name
    for name, one in datasets.items():
        for place, table in _identities(one.public or {}, ""):
            if (other := _owner(protected, place, table)) is not None:
                reason = (
                    f"it is protected as the data of {other}: a public table is shown to everybody"
                )
                raise _wrong(
                    f"[datasets.{name}] public", reason, "a file that holds nothing about people"
                )


def _owner(protected: Mapping[Any, Mapping[str, str]], place: Any, table: str) -> str | None:
    """The dataset that has this table. A name that is left out may be any table of the place."""
    return next(
        (
            name
            for own, name in protected.get(place, {}).items()
            if own == table or not own or not table
        ),
        None,
    )


def _identities(source: Any, table: str) -> list[tuple[Any, str]]:
    """The files that a source names, by what they are and not by what they are called, or its
    database; and the table in it. Two addresses of one database are not known to be one.
    """
    if isinstance(source, Mapping):
        return [
            place
            for name, one in source.items()
            for place in _identities(one, name if _URL.match(one) else "")
        ]
    if _URL.match(source):
        return [(source, table)]
    path, _, inner = source.partition("::")  # of a DuckDB file: the table in it
    listed = glob(path, recursive=True) if has_magic(path) else [path]
    files = [
        file
        for one in listed
        for file in (sorted(Path(one).rglob("*")) if Path(one).is_dir() else [Path(one)])
        if not file.is_dir()
    ]
    return [(_file(file), inner) for file in files]


def _file(path: Path) -> Any:
    try:
        about = path.stat()
    except OSError:
        return os.path.realpath(path)
    return about.st_dev, about.st_ino


def _read_declaration(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise _wrong(
            f"declaration {path.name}",
            "this file cannot be read as text",
            "a file written by Declaration.to_toml()",
        ) from None
    return Declaration.from_toml(text).arguments


def _budget(where: str, said: Any) -> Guarantee:
    """A number, or a guarantee by its notion and numbers."""
    if not isinstance(said, dict):
        return budget_of(said)
    try:
        return restore(
            {
                "sfumato": "guarantee",
                "version": 1,
                **{
                    key: value if isinstance(value, dict) else str(value)
                    for key, value in said.items()
                },
            }
        )
    except (KeyError, TypeError, AttributeError):
        raise _wrong(
            where,
            "a budget is a number, or a notion with its numbers",
            '{ notion = "Approx", epsilon = "1", delta = "1e-6" }',
        ) from None


def _sources(where: str, said: Any, folder: Path) -> Any:
    if isinstance(said, dict):
        return {name: _place(where, one, folder) for name, one in said.items()}
    return _place(where, said, folder)


def _place(where: str, said: Any, folder: Path) -> str:
    text = _text(where, said)
    return text if _URL.match(text) else str(folder / text)


def _text(where: str, said: Any) -> str:
    if not isinstance(said, str):
        raise _wrong(where, "this is text", '"visits.parquet"')
    return said


def _whole(low: int, high: int) -> Callable[[str, Any], int]:
    def check(where: str, said: Any) -> int:
        if isinstance(said, bool) or not isinstance(said, int) or not low <= said <= high:
            raise _wrong(where, f"this is a whole number from {low} to {high}", str(low))
        return said

    return check


def _seconds(where: str, said: Any) -> float:
    if isinstance(said, bool) or not isinstance(said, int | Decimal) or not 0.01 <= said <= 3600:
        raise _wrong(where, "this is a number of seconds from 0.01 to 3600", "1")
    return float(said)


def _amount(low: float, high: float, what: str) -> Callable[[str, Any], float]:
    def check(where: str, said: Any) -> float:
        if isinstance(said, bool) or not isinstance(said, int | Decimal) or not low <= said <= high:
            raise _wrong(where, f"this is a number of {what} from {low:g} to {high:g}", f"{low:g}")
        return float(said)

    return check


def _classes(where: str, said: Any) -> tuple[float, ...]:
    found = tuple(_seconds(where, one) for one in said) if isinstance(said, list) else ()
    if not found or list(found) != sorted(set(found)):
        raise _wrong(
            where,
            "deadlines are classes of seconds, the shortest first",
            "deadlines = [0.25, 1, 4, 16]",
        )
    return found


def _size(low: int, reason: str, rewrite: str) -> Callable[[str, Any], int]:
    def check(where: str, said: Any) -> int:
        parts = _SIZE.fullmatch(said) if isinstance(said, str) else None
        if parts is None or (size := int(parts[1]) * _UNITS[parts[2]]) < low:
            raise _wrong(where, reason, rewrite)
        return size

    return check


def _rates(said: Any) -> dict[str, Rate]:
    """[server.rate] token = {per_second, burst}, address = {…}."""
    found = {}
    if not isinstance(said, dict):
        raise _wrong(
            "[server] rate",
            "rates are said of a token and of an address",
            "rate = { token = 50, address = 100 }",
        )
    _known(said, ("token", "address"), "[server] rate")
    for name, amount in said.items():
        if (
            isinstance(amount, bool)
            or not isinstance(amount, int | Decimal)
            or not 0 < amount <= 10**9
        ):
            raise _wrong(f"[server] rate.{name}", "this is a number of requests a second", "50")
        found[f"{name}_rate"] = Rate(per_second=float(amount), burst=max(1.0, 4 * float(amount)))
    return found


_OVERRUNS = _whole(1, 10**6)
_RELEASES = _whole(1, 10**12)
_SERVER: dict[str, Callable[[str, Any], Any]] = {
    "host": _text,
    "port": _whole(0, 65535),
    "workers": _whole(1, 64),
    "deadlines": _classes,
    "memory": _size(2**28, "the memory of a worker process, at least 256 MiB", 'memory = "2 GiB"'),
    "children": _whole(1, 16),
    "overruns_per_analyst": _OVERRUNS,
    "most_releases": _RELEASES,
    "plan_seconds": _amount(0.1, 60, "seconds"),
    "planning_per_minute": _amount(1, 10**6, "seconds"),
    "waiting_per_analyst": _whole(1, 10**4),
    "answer_bytes": _size(
        2**20, "the room that one reply may take, at least 1 MiB", 'answer_bytes = "8 MiB"'
    ),
    "stored_per_analyst": _size(
        2**20,
        "the room for stored replies of one analyst, at least 1 MiB",
        'stored_per_analyst = "1 GiB"',
    ),
    "connections_per_address": _whole(1, 10**6),
    "keep_days": _whole(1, 3650),
    "tls_cert": _text,
    "tls_key": _text,
}
"""What [server] may say, and what of it is right."""


def _known(said: dict[str, Any], names: tuple[str, ...], where: str) -> None:
    if unknown := [key for key in said if key not in names]:
        raise _wrong(
            f"{where} {unknown[0]:.60}",
            f"it may have {', '.join(sorted(names))}",
            "the page on the server lists them all",
        )


def _wrong(place: str, reason: str, rewrite: str) -> Refused:
    return Refused("server.config", place, reason, rewrite)
