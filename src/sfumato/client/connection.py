"""`connect` to a server with a token, and open the datasets that the token may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict, cast, overload

from ..tables.declare.declaration import Declaration
from ..tables.declare.declared_database import DatabaseDeclaration
from . import client_refusals as refusals
from .transport import RETRIES, Reply, Wire

Dataset = Any  # a RemoteTable or a RemoteDatabase: only the server knows which


class Identity(TypedDict):
    """Whom a token is for, as the server says."""

    name: str
    role: str
    expires: str
    datasets: list[str]


class Connection:
    """The datasets behind a server that a token may see, by name."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        try:
            self._me = self._check_identity(wire.get("/api/me"))
        except BaseException:
            wire.close()
            raise

    @property
    def me(self) -> Identity:
        """The token's identity at the server: name, role, expiry and datasets."""
        return self._me.copy()

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets."""
        return tuple(self._me["datasets"])

    def __getitem__(self, dataset: str) -> Dataset:
        """Open a dataset: a `RemoteTable`, or a `RemoteDatabase` if it has several tables."""
        if not isinstance(dataset, str) or dataset not in self.datasets:
            raise refusals.UNKNOWN_DATASET(
                dataset=dataset,
                datasets=", ".join(self.datasets) or "none",
                first=(self.datasets or ("visits",))[0],
            )
        try:
            from .remote_table import RemoteDatabase, RemoteTable
        except ImportError:  # the reader of SQL
            raise refusals.LIBRARY_MISSING(library="sqlglot") from None
        try:
            schema = self._wire.get(f"/api/datasets/{dataset}")
            if schema.get("database") is not None:
                return RemoteDatabase(
                    self._wire, dataset, DatabaseDeclaration.from_toml(schema["database"])
                )
            return RemoteTable(
                self._wire, dataset, Declaration.from_toml(schema["tables"][0]["declaration"])
            )
        except (KeyError, TypeError, IndexError, AttributeError):
            raise refusals.DECLARATION_UNREADABLE(dataset=dataset) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.datasets)

    def __len__(self) -> int:
        return len(self.datasets)

    def close(self) -> None:
        self._wire.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return (
            f"<sfumato at {self._wire.url}: {self._me['name']}, {self._me['role']} · "
            f"datasets {', '.join(self.datasets) or 'none'}>"
        )

    def _check_identity(self, me: Reply) -> Identity:
        if isinstance(me, dict) and {"name", "role", "datasets"} <= set(me):
            return cast("Identity", me)
        raise refusals.NOT_A_SERVER(url=self._wire.url)


@overload
def connect(
    url: str,
    token: str,
    *,
    dataset: None = None,
    timeout: float = 60.0,
    retries: int = RETRIES,
    insecure: bool = False,
) -> Connection: ...


@overload
def connect(
    url: str,
    token: str,
    *,
    dataset: str,
    timeout: float = 60.0,
    retries: int = RETRIES,
    insecure: bool = False,
) -> Dataset: ...


def connect(
    url: str,
    token: str,
    *,
    dataset: str | None = None,
    timeout: float = 60.0,
    retries: int = RETRIES,
    insecure: bool = False,
) -> Dataset:
    """Connect to a server and its datasets, `connect(url, token)["visits"]`; `dataset=` opens one.

    `timeout` is the number of seconds for one attempt, `retries` how often the client repeats a
    request with the same key if the server does not answer. Over plain HTTP the client talks to
    this computer only, unless `insecure=True`.
    """
    connection = Connection(Wire(url, token, timeout=timeout, retries=retries, insecure=insecure))
    return connection if dataset is None else connection[dataset]
