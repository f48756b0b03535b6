"""`connect`: a server and a token, and the datasets that they open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

from ..errors import Refused
from ..tables.declare.declaration import Declaration
from ..tables.declare.declared_database import DatabaseDeclaration
from .transport import RETRIES, Wire, missing, unreadable


class Connection:
    """The datasets behind a server that a token may see, by name."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        try:
            self._me = self._told(wire.get("/api/me"))
        except BaseException:
            wire.close()
            raise

    @property
    def me(self) -> dict[str, Any]:
        """Who the server takes one for: name, role, when the token ends, and its datasets."""
        return dict(self._me)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets."""
        return tuple(self._me["datasets"])

    def __getitem__(self, dataset: str) -> Any:
        """A table, or several where a dataset has several, as the server publishes it."""
        if not isinstance(dataset, str) or dataset not in self.datasets:
            there = ", ".join(self.datasets) or "none"
            raise Refused(
                "client.dataset",
                f"{dataset!r:.60}",
                f"the datasets of this token are: {there}",
                f"connect(…)[{(self.datasets or ('visits',))[0]!r}]",
            )
        try:
            from .remote_table import RemoteDatabase, RemoteTable
        except ImportError:  # the reader of SQL
            raise missing("sqlglot") from None
        try:
            said = self._wire.get(f"/api/datasets/{dataset}")
            if said.get("database") is not None:
                return RemoteDatabase(
                    self._wire, dataset, DatabaseDeclaration.from_toml(said["database"])
                )
            return RemoteTable(
                self._wire, dataset, Declaration.from_toml(said["tables"][0]["declaration"])
            )
        except (KeyError, TypeError, IndexError, AttributeError):
            raise unreadable(
                dataset, "its declaration is not one that this version can read"
            ) from None

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

    def _told(self, me: Any) -> dict[str, Any]:
        if not isinstance(me, dict) or not {"name", "role", "datasets"} <= set(me):
            raise Refused(
                "client.reply",
                self._wire.url,
                "this is not a reply of a sfumato server",
                "the address that `sfumato serve` prints",
            )
        return me


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
) -> Any: ...


def connect(
    url: str,
    token: str,
    *,
    dataset: str | None = None,
    timeout: float = 60.0,
    retries: int = RETRIES,
    insecure: bool = False,
) -> Any:
    """The datasets behind a server, `connect(url, token)["visits"]`; with `dataset=`, that one.

    `timeout` is how many seconds one attempt may take, `retries` how often a request is sent again
    with its key when nobody answers. Over plain HTTP only this computer is spoken to, unless
    `insecure=True`.
    """
    found = Connection(Wire(url, token, timeout=timeout, retries=retries, insecure=insecure))
    return found if dataset is None else found[dataset]
