"""What the sessions of one process share: the service, the catalogues, who may be cancelled."""

from __future__ import annotations

import asyncio
import secrets
import ssl
from typing import Protocol

from ..datasets import Served
from ..http.request_limits import Buckets
from ..request_store import RequestStore
from ..roles import Asker
from ..service import CuratorService
from .dataset_catalogue import Catalogue
from .wire_questions import WireQuestions


class Cancellable(Protocol):
    """A session whose statement may be cancelled."""

    cancelled: asyncio.Event

    async def stop(self) -> None: ...


class WireState:
    """What sessions share. `statements` counts requests by the names of tokens, with those of
    HTTP.
    """

    def __init__(
        self, curator: CuratorService, statements: Buckets, tls: ssl.SSLContext | None
    ) -> None:
        self.questions = WireQuestions(curator)
        self.records: RequestStore = curator.state
        self.statements, self.tls = statements, tls
        self.sessions: dict[tuple[int, int], Cancellable] = {}
        self._catalogues: dict[str, Catalogue] = {}
        self._opening = asyncio.Lock()

    def visible(self, asker: Asker, name: str) -> Served | None:
        """Return a dataset if the token may see it."""
        return self.questions.curator.served.get(name) if asker.sees(name) else None

    async def catalogue(self, served: Served) -> Catalogue:
        """Return the catalogue of a dataset, opened at its first use."""
        async with self._opening:
            if served.name not in self._catalogues:
                self._catalogues[served.name] = await asyncio.to_thread(Catalogue, served)
            return self._catalogues[served.name]

    def register(self, session: Cancellable) -> tuple[int, int]:
        """Return the numbers by which a client cancels the statements of a session."""
        numbers = secrets.randbits(31), secrets.randbits(32)
        self.sessions[numbers] = session
        return numbers

    def cancel(self, process: int, secret: int) -> None:
        session = self.sessions.get((process, secret))
        if session is not None:
            session.cancelled.set()

    def close(self) -> None:
        for catalogue in self._catalogues.values():
            catalogue.close()
