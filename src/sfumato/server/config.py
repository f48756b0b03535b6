"""The configuration of a service, one TOML file: datasets with declarations and budgets, and how
the service runs. Every process reads it alike.

*Exact*     Decimal numbers are read exactly: 0.1 is one tenth.
*Paths*     are relative to the folder of the file. A PostgreSQL URL may replace a path.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import restore
from ..session.promises import budget_of
from ..tables.declare.declaration import Declaration
from . import server_refusals as refusals
from .postgres.session_settings import AMOUNTS, check_ours, merge_settings

Source = str | Mapping[str, str]  # a path or URL, or one for each table
Arguments = Mapping[str, Any]  # of `sf.protect`, each of its own type
Identity = str | tuple[int, int]  # of a database or a missing file; of a file, device and inode
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
PERSON = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}")
_URL = re.compile(r"postgres(ql)?://", re.IGNORECASE)
_ERROR_PLACE = re.compile(r"at line (\d+), column (\d+)")
_SIZE = re.compile(r"([0-9]{1,6}) ?(MiB|GiB)")
_UNITS = {"MiB": 2**20, "GiB": 2**30}
MOST_REQUESTS = 10**9
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
"""The arguments of `sf.protect` that a dataset may declare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetConfig:
    """The configuration of a dataset: its source, declaration, budget, and the budgets of its
    analysts.
    """

    name: str
    source: Source = field(repr=False)
    public: Mapping[str, str] | None = field(default=None, repr=False)
    budget: Guarantee
    about: str = ""
    declared: Arguments = field(default_factory=dict)
    analysts: Mapping[str, Guarantee] = field(default_factory=dict)
    deadline: float | None = None
    most_releases: int | None = None  # None: the service's number
    # settings of the PostgreSQL wire, for all analysts and by name
    defaults: Mapping[str, str] = field(default_factory=dict)
    analyst_defaults: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # by analyst, in place of the service's number
    overruns: Mapping[str, int] = field(default_factory=dict)
    ledger: str = field(repr=False)

    def defaults_of(self, who: str) -> dict[str, str]:
        """Return the settings that an analyst's session on the PostgreSQL wire begins with."""
        return merge_settings(self.defaults, self.analyst_defaults.get(who, {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A rate limit: requests per second in the long run, and the largest burst."""

    per_second: float
    burst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The configuration of a service. `text` and `folder` are its source, which worker processes
    read again.
    """

    text: str = field(repr=False)
    folder: Path
    datasets: Mapping[str, DatasetConfig]
    host: str = "127.0.0.1"
    port: int = 8000
    postgres: int | None = None  # the port for PostgreSQL clients
    workers: int = 1
    tokens: str = field(repr=False)
    deadlines: tuple[float, ...] = (1.0, 4.0, 16.0)
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
        """Return the largest number of releases that a dataset's budget pays for; each costs at
        least that part of it.
        """
        releases = self.datasets[dataset].most_releases
        return self.most_releases if releases is None else releases

    def overruns(self, dataset: str, who: str) -> int:
        """Return the number of overruns that an analyst may have."""
        return self.datasets[dataset].overruns.get(who, self.overruns_per_analyst)


def load(path: str | Path) -> Config:
    """Read the configuration in a file."""
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise refusals.CONFIG_MISSING(name=place.name) from None
    except (OSError, UnicodeDecodeError):
        raise refusals.CONFIG_UNREADABLE(name=place.name) from None
    return read(text, place.absolute().parent)


def read(text: str, folder: Path) -> Config:
    """Read a configuration text, with paths relative to a folder."""
    try:
        content = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError is a ValueError
        raise refusals.CONFIG_NOT_TOML(where=_error_place(error, text)) from None
    _check_names(content, ("server", "datasets"), "the file")
    server, datasets = content.get("server", {}), content.get("datasets", {})
    if not isinstance(server, dict) or not isinstance(datasets, dict) or not datasets:
        raise refusals.DATASETS_MISSING()
    _check_names(server, (*_SERVER, "ledger", "tokens", "rate"), "[server]")
    ledger = _place("ledger", server.get("ledger", "curator.ledger"), folder)
    tokens = server.get("tokens", ledger if _URL.match(ledger) else "tokens.db")
    settings: dict[str, Any] = {
        name: check(f"[server] {name}", server[name])
        for name, check in _SERVER.items()
        if name in server
    }
    parsed = {name: _dataset(name, about, folder, ledger) for name, about in datasets.items()}
    accounts: dict[tuple[str, str], str] = {}
    for name, dataset in parsed.items():
        if (
            first_user := accounts.setdefault((dataset.ledger, dataset.declared["name"]), name)
        ) != name:
            raise refusals.ACCOUNT_SHARED(dataset=name, owner=first_user)
    _check_disjoint(parsed)
    for name in ("tls_cert", "tls_key"):
        settings |= {name: str(folder / settings[name])} if name in settings else {}
    if ("tls_cert" in settings) != ("tls_key" in settings):
        raise refusals.KEY_WITHOUT_CERTIFICATE()
    settings |= _rates(server.get("rate", {}))
    return Config(
        text=text,
        folder=folder,
        datasets=parsed,
        tokens=_place("tokens", tokens, folder),
        **settings,
    )


def _error_place(error: Exception, text: str) -> str:
    """Return the line and column where tomllib stopped reading. Its own words may quote the file,
    which may hold a password; they are left out.
    """
    if place := _ERROR_PLACE.search(str(error)):
        return f"line {place[1]}, column {place[2]}"
    return f"line {len(text.splitlines())}, the last" if "end of document" in str(error) else "text"


def _dataset(name: str, about: object, folder: Path, ledger: str) -> DatasetConfig:
    where = f"[datasets.{name:.60}]"
    if not NAME.fullmatch(name) or not isinstance(about, dict):
        raise refusals.DATASET_NAME_WRONG(where=where)
    _check_names(
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
            "defaults",
            "analyst_defaults",
        ),
        where,
    )
    if "source" not in about or "budget" not in about:
        raise refusals.DATASET_INCOMPLETE(where=where)
    declared: Arguments = {key: about[key] for key in DECLARED if key in about}
    if "declaration" in about:
        if declared:
            raise refusals.DECLARED_TWICE(where=where, keys=", ".join(declared))
        declared = _read_declaration(folder / _text(f"{where} declaration", about["declaration"]))
    analysts = about.get("analysts", {})
    if not isinstance(analysts, dict) or not all(PERSON.fullmatch(person) for person in analysts):
        raise refusals.ANALYSTS_WRONG(where=where)
    overruns = about.get("overruns", {})
    if not isinstance(overruns, dict) or not all(PERSON.fullmatch(person) for person in overruns):
        raise refusals.OVERRUNS_WRONG(where=where)
    analyst_defaults = about.get("analyst_defaults", {})
    if not isinstance(analyst_defaults, dict):
        raise refusals.DEFAULTS_WRONG(where=where)
    return DatasetConfig(
        name=name,
        source=_sources(f"{where} source", about["source"], folder),
        public=_public(where, about["public"], folder) if "public" in about else None,
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
        defaults=_defaults(where, about.get("defaults", {})),
        analyst_defaults={
            person: _defaults(where, settings) for person, settings in analyst_defaults.items()
        },
        ledger=_place("ledger", about["ledger"], folder) if "ledger" in about else ledger,
    )


def _defaults(where: str, settings: object) -> dict[str, str]:
    """Read settings of the PostgreSQL wire: `{ epsilon = 0.1, intervals = true }`."""
    if not isinstance(settings, dict):
        raise refusals.DEFAULTS_WRONG(where=where)
    texts: dict[str, str] = {}
    for name, value in settings.items():
        if not isinstance(value, str | int | Decimal):
            raise refusals.DEFAULTS_WRONG(where=where)
        try:
            texts[name] = check_ours(name, str(value))
        except Refused:
            raise refusals.DEFAULTS_WRONG(where=where) from None
    if len(texts.keys() & set(AMOUNTS)) > 1 or "key" in texts:
        raise refusals.DEFAULTS_WRONG(where=where)
    return texts


def _check_disjoint(datasets: Mapping[str, DatasetConfig]) -> None:
    """Refuse data that belongs to two datasets: each would have a budget of its own, and together
    they would guarantee less than either states.
    """
    protected: dict[
        Identity, dict[str, str]
        # by file or database, the tables of it that are protected, and the datasets that they
        # belong to
    ] = {}
    for name, dataset in datasets.items():
        for place, table in dict.fromkeys(
            _identities(dataset.source, dataset.declared.get("table", ""))
        ):
            if (owner := _owner(protected, place, table)) not in (None, name):
                raise refusals.SOURCE_SHARED(dataset=name, owner=owner)
            protected.setdefault(place, {})[table] = name
    for name, dataset in datasets.items():
        for place, table in _identities(dataset.public or {}, ""):
            if (owner := _owner(protected, place, table)) is not None:
                raise refusals.PUBLIC_DATA_PROTECTED(dataset=name, owner=owner)


def _owner(
    protected: Mapping[Identity, Mapping[str, str]], place: Identity, table: str
) -> str | None:
    """Return the dataset that owns a table. An empty name may be any table of the place."""
    return next(
        (
            name
            for protected_table, name in protected.get(place, {}).items()
            if protected_table == table or not protected_table or not table
        ),
        None,
    )


def _identities(source: Source, table: str) -> list[tuple[Identity, str]]:
    """Return the files of a source, by device and inode rather than by name, or its database; and
    the table in it. Two URLs of one database count as two.
    """
    if isinstance(source, Mapping):
        return [
            place
            for name, listed_path in source.items()
            for place in _identities(listed_path, name if _URL.match(listed_path) else "")
        ]
    if _URL.match(source):
        return [(source, table)]
    path, _, inner = source.partition("::")  # of a DuckDB file: the table in it
    listed = glob(path, recursive=True) if has_magic(path) else [path]
    files = [
        file
        for part in listed
        for file in (sorted(Path(part).rglob("*")) if Path(part).is_dir() else [Path(part)])
        if not file.is_dir()
    ]
    return [(_file(file), inner) for file in files]


def _file(path: Path) -> Identity:
    try:
        about = path.stat()
    except OSError:
        return os.path.realpath(path)
    return about.st_dev, about.st_ino


def _read_declaration(path: Path) -> Arguments:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise refusals.DECLARATION_UNREADABLE(name=path.name) from None
    return Declaration.from_toml(text).arguments


def _budget(where: str, amount: Number | dict[str, object]) -> Guarantee:
    """Read a budget: a number, or a notion with its numbers."""
    if not isinstance(amount, dict):
        return budget_of(amount)
    try:
        return restore(
            {
                "sfumato": "guarantee",
                "version": 1,
                **{
                    key: value if isinstance(value, dict) else str(value)
                    for key, value in amount.items()
                },
            }
        )
    except (KeyError, TypeError, AttributeError):
        raise refusals.BUDGET_WRONG(where=where) from None


def _sources(where: str, value: object, folder: Path) -> Source:
    if isinstance(value, dict):
        return {name: _place(where, path, folder) for name, path in value.items()}
    return _place(where, value, folder)


def _public(where: str, value: object, folder: Path) -> Mapping[str, str]:
    sources = _sources(f"{where} public", value, folder)
    if isinstance(sources, str):
        raise refusals.PUBLIC_WRONG(where=where)
    return sources


def _place(where: str, value: object, folder: Path) -> str:
    text = _text(where, value)
    return text if _URL.match(text) else str(folder / text)


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise refusals.NOT_TEXT(where=where)
    return value


def _integer(low: int, high: int) -> Callable[[str, object], int]:
    def check(where: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise refusals.NOT_AN_INTEGER(where=where, low=low, high=high)
        return value

    return check


def _seconds_between(low: float, high: float) -> Callable[[str, object], float]:
    def check(where: str, value: object) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | Decimal)
            or not low <= value <= high
        ):
            raise refusals.NOT_SECONDS(where=where, low=low, high=high)
        return float(value)

    return check


def _classes(where: str, value: object) -> tuple[float, ...]:
    classes = (
        tuple(_seconds(where, seconds) for seconds in value) if isinstance(value, list) else ()
    )
    if not classes or list(classes) != sorted(set(classes)):
        raise refusals.DEADLINES_NOT_SORTED(where=where)
    return classes


def _size(least: int) -> Callable[[str, object], int]:
    """Check a size of at least so many MiB."""

    def check(where: str, value: object) -> int:
        parts = _SIZE.fullmatch(value) if isinstance(value, str) else None
        if parts is None or (size := int(parts[1]) * _UNITS[parts[2]]) < least * 2**20:
            raise refusals.NOT_A_SIZE(where=where, least=least)
        return size

    return check


def _rates(value: object) -> dict[str, Rate]:
    """Read [server.rate]: requests per second for a token and for an address."""
    rates = {}
    if not isinstance(value, dict):
        raise refusals.RATE_NOT_TABLE()
    _check_names(value, ("token", "address"), "[server] rate")
    for name, amount in value.items():
        if (
            isinstance(amount, bool)
            or not isinstance(amount, int | Decimal)
            or not 0 < amount <= MOST_REQUESTS
        ):
            raise refusals.RATE_NOT_POSITIVE(name=name, most=MOST_REQUESTS)
        rates[f"{name}_rate"] = Rate(per_second=float(amount), burst=max(1.0, 4 * float(amount)))
    return rates


_seconds = _seconds_between(0.01, 3600)
_OVERRUNS = _integer(1, 10**6)
_RELEASES = _integer(1, 10**12)
_SERVER: dict[str, Callable[[str, object], object]] = {
    "host": _text,
    "port": _integer(0, 65535),
    "postgres": _integer(1, 65535),
    "workers": _integer(1, 64),
    "deadlines": _classes,
    "memory": _size(256),
    "children": _integer(1, 16),
    "overruns_per_analyst": _OVERRUNS,
    "most_releases": _RELEASES,
    "plan_seconds": _seconds_between(0.1, 60),
    "planning_per_minute": _seconds_between(1, 10**6),
    "waiting_per_analyst": _integer(1, 10**4),
    "answer_bytes": _size(1),
    "stored_per_analyst": _size(1),
    "connections_per_address": _integer(1, 10**6),
    "keep_days": _integer(1, 3650),
    "tls_cert": _text,
    "tls_key": _text,
}
"""The keys of [server], and the function that checks each value."""


def _check_names(table: Mapping[str, object], names: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in names:
            listed = ", ".join(sorted(names))
            if near := get_close_matches(key, names, n=1):
                raise refusals.KEY_MISSPELT(where=where, key=key, near=near[0], keys=listed)
            raise refusals.UNKNOWN_KEY(where=where, key=key, keys=listed)
