"""All that one process of the service has open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from .config import Config
from .datasets import Served, opened
from .http.problems import ROLE, UNKNOWN, Stopped
from .ledger_views import LOOK
from .plan_views import Plans
from .reply_quota import Room
from .request_store import State
from .roles import Asker
from .tokens import Tokens
from .workers.worker_pool import Pool

T = TypeVar("T")


class Curator:
    """Datasets, tokens, requests, workers."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state = State(config.tokens)
        self.served: dict[str, Served] = {}
        self.ending = threading.Event()  # from here on long looks at a book are broken off
        self.plans = Plans(config)
        try:
            self.state.open()
            for name, about in config.datasets.items():
                self.served[name] = served = opened(about, self.state.head(name))
                served.long._store.limit(self.ending.is_set, LOOK)
                self.state.follow(name, served.ledger)
        except BaseException:
            self.close()
            raise
        self.tokens = Tokens(self.state)
        self.room = Room(config, self.state)
        self.pool = Pool(config)

    def dataset(self, asker: Asker, name: str, roles: frozenset[str]) -> Served:
        """A dataset, for somebody who may see it, in a role that may ask this. What is foreign is
        not there.
        """
        served = self.served.get(name) if asker.sees(name) else None
        if served is None:
            raise Stopped(UNKNOWN)
        if asker.role not in roles:
            raise Stopped(ROLE)
        return served

    async def look(self, call: Callable[..., T], *more: Any) -> T:
        """A short look at the records: at once in a file, in a thread on a server."""
        return call(*more) if self.state.quick else await asyncio.to_thread(call, *more)

    def close(self) -> None:
        self.ending.set()
        for served in self.served.values():
            served.close()
        self.state.close()
        self.plans.close()
