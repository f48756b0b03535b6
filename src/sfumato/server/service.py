"""The open resources of one process of the service: datasets, tokens, requests, plans, workers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from .config import Config
from .datasets import Served, open_dataset
from .http.problems import ROLE, UNKNOWN, ProblemError
from .ledger_views import LOOK
from .plan_views import Planner
from .reply_quota import ReplyQuota
from .request_store import RequestStore
from .roles import Asker
from .tokens import Tokens
from .workers.worker_pool import Pool

P = ParamSpec("P")
T = TypeVar("T")


class CuratorService:
    """The service in one process."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state = RequestStore(config.tokens)
        self.served: dict[str, Served] = {}
        self.ending = threading.Event()  # once set, long reads of a book are interrupted
        self.plans = Planner(config)
        try:
            self.state.open()
            for name, about in config.datasets.items():
                self.served[name] = served = open_dataset(about, self.state.head(name))
                served.long._store.limit(self.ending.is_set, LOOK)
                self.state.follow(name, served.ledger)
        except BaseException:
            self.close()
            raise
        self.tokens = Tokens(self.state)
        self.quota = ReplyQuota(config, self.state)
        self.pool = Pool(config)

    def dataset(self, asker: Asker, name: str, roles: frozenset[str]) -> Served:
        """Return a dataset if the token may see it and its role is one of `roles`. For other tokens
        the dataset does not exist.
        """
        served = self.served.get(name) if asker.sees(name) else None
        if served is None:
            raise ProblemError(UNKNOWN)
        if asker.role not in roles:
            raise ProblemError(ROLE)
        return served

    async def look(self, call: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Run a short read of the records: directly for a file, in a thread for a server."""
        if self.state.is_quick:
            return call(*args, **named)
        return await asyncio.to_thread(call, *args, **named)

    def __repr__(self) -> str:
        return f"<sfumato service of {', '.join(self.config.datasets)}>"

    def close(self) -> None:
        self.ending.set()
        for served in self.served.values():
            served.close()
        self.state.close()
        self.plans.close()
