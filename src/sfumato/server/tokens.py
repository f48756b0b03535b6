"""Tokens: 256 random bits, shown once, stored as an argon2 hash, with an expiry, revocable at once.

*Form*      sft_ID_SECRET. The id is public within the service and finds the row; the secret proves
            the holder.
*Cost*      A token is as hard to guess as a key, so argon2's cost protects little here. But the
            stored hash is useless to a reader of the records, and the cost is paid once: a process
            recognises a verified token by its SHA-256 and the stored hash.
*Wire*      Beside the hash stands a SCRAM verifier, for the PostgreSQL wire: see `postgres.scram`.
*Ends*      Every request reads expiry and revocation from the shared records: no process remembers
            a token that is no longer valid.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import secrets
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, cast

from . import server_refusals as refusals
from .config import NAME, PERSON
from .http.problems import UNNAMED, ProblemError
from .postgres.scram import make_verifier
from .request_store import RequestStore, TokenRow
from .roles import ROLES, Asker, Role

if TYPE_CHECKING:
    from argon2 import PasswordHasher

BITS = 256
DAY = 86_400
DAYS = 90
MOST_DAYS = 3650
_FORM = re.compile(r"sft_([a-z2-7]{16})_([A-Za-z0-9_-]{43})", re.ASCII)
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_CACHED = 4096


def create_token(
    state: RequestStore,
    *,
    name: str,
    role: str,
    datasets: list[str] | None = None,
    days: int = DAYS,
) -> str:
    """Create a token and return its text. It cannot be shown again."""
    if not PERSON.fullmatch(name):
        raise refusals.HOLDER_NAME_WRONG(name=name)
    if role not in ROLES:
        raise refusals.UNKNOWN_ROLE(role=role, roles=", ".join(ROLES))
    if not all(NAME.fullmatch(dataset) for dataset in datasets or ()):
        raise refusals.TOKEN_DATASET_WRONG()
    if isinstance(days, bool) or not 1 <= days <= MOST_DAYS:
        raise refusals.DAYS_OUT_OF_RANGE(days=days, most=MOST_DAYS)
    id_ = "".join(secrets.choice(_ALPHABET) for _ in range(16))
    secret = secrets.token_urlsafe(BITS // 8)
    now = int(time.time())
    datasets_json = json.dumps(None if datasets is None else sorted(set(datasets)))
    token = f"sft_{id_}_{secret}"
    state.add_token(
        TokenRow(id_, _hasher().hash(secret), name, role, datasets_json, now, now + days * DAY, 0),
        make_verifier(name, token),
    )
    return token


class Tokens:
    """Checks tokens; caches verified ones in this process."""

    def __init__(self, state: RequestStore) -> None:
        self._state = state
        # SHA-256 of a token → the stored hash it was verified against
        self._verified: OrderedDict[bytes, str] = OrderedDict()
        # argon2 takes memory: a flood of wrong tokens waits in line
        self._turn = asyncio.Semaphore(2)

    async def asker(self, authorization: str | None) -> Asker:
        """Return the holder of the token in a header; else raise a problem that never says why."""
        scheme, _, token = (authorization or "").partition(" ")
        parts = _FORM.fullmatch(token.strip()) if scheme.lower() == "bearer" else None
        if parts is None:
            raise ProblemError(UNNAMED)
        row = (
            self._state.token(parts[1])
            if self._state.is_quick
            else await asyncio.to_thread(self._state.token, parts[1])
        )
        if row is None or row.revoked or row.expires <= time.time():
            raise ProblemError(UNNAMED)
        fingerprint = hashlib.sha256(token.strip().encode()).digest()
        if self._verified.get(fingerprint) != row.hash:
            async with self._turn:
                if not await asyncio.to_thread(_verify, row.hash, parts[2]):
                    raise ProblemError(UNNAMED)
            self._verified[fingerprint] = row.hash
            while len(self._verified) > _CACHED:
                self._verified.popitem(last=False)
        return asker_of(row)


def asker_of(row: TokenRow) -> Asker:
    """Return the holder of a token."""
    datasets, role = json.loads(row.datasets), cast(Role, row.role)
    return Asker(row.name, role, None if datasets is None else frozenset(datasets), row.expires)


def _verify(stored: str, secret: str) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        return bool(_hasher().verify(stored, secret))
    except (Argon2Error, InvalidHashError):
        return False


def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
