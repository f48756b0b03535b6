"""Send requests to a server: repeat a request with the same key if no answer comes, and raise every
refusal as the library would.

*Again*     A release carries its own key. The server answers the same request with the same key by
            the same bytes and charges it once. So the client repeats a lost request, with growing
            pauses, until an answer comes or the retries end.
*Token*     goes into one header, to one address: the client follows no redirect, and over plain
            HTTP it talks to this computer only, unless `insecure=True`. Over plain HTTP a proxy
            could read the token, so proxies of the environment are used for HTTPS alone, which goes
            through them encrypted.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import Failed, Refused
from ..ledger import BudgetExceeded
from . import client_refusals as refusals

if TYPE_CHECKING:
    import httpx

Reply = Any  # the JSON of a reply: who reads it checks it
RETRIES = 6
LATER = frozenset({"server.running", "server.rate", "server.busy", "server.internal"})
"""Codes of temporary problems: the same request may succeed later."""
FAILED = frozenset({"server.deadline", "server.lost", "server.internal"})
"""Codes of failures after the charge: there is no answer, and the charge stays."""
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_TOKEN = re.compile(r"[\x21-\x7e]{8,512}")
_PARTS = ("code", "place", "reason", "rewrite")


class Wire:
    """An HTTP connection to one server, with one token."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 60.0,
        retries: int = RETRIES,
        insecure: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise refusals.LIBRARY_MISSING(library="httpx") from None
        self.url = _address(url, insecure=insecure)
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise refusals.NOT_A_TOKEN()
        self.retries = retries
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        sealed = self.url.lower().startswith("https:")
        self._http = httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=timeout,
            transport=transport,
            follow_redirects=False,
            trust_env=sealed,
        )

    def get(self, path: str, **parameters: str | int | None) -> Reply:
        """Read a resource of the server."""
        params = {name: value for name, value in parameters.items() if value is not None}
        return self._send("GET", path, params=params)

    def post(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Reply:
        """Send a question and return the reply."""
        headers = {"Content-Type": "application/json"} | (
            {"Idempotency-Key": key} if key is not None else {}
        )
        more = {} if timeout is None else {"timeout": timeout}
        return self._send(
            "POST",
            path,
            content=json.dumps(body, ensure_ascii=False).encode(),
            headers=headers,
            **more,
        )

    def close(self) -> None:
        self._http.close()

    def _send(self, method: str, path: str, **request: Any) -> Reply:
        import httpx

        for attempt in range(self.retries + 1):
            last, wait = attempt == self.retries, min(2.0, 0.1 * 2**attempt)
            try:
                reply = self._http.request(method, path, **request)
            except httpx.TransportError:  # its text may reveal the network, so it is not shown
                if last:
                    raise self._unreachable(request.get("headers", {})) from None
                time.sleep(wait)
                continue
            if reply.status_code == 200:
                return self._read(reply)
            problem = self._problem(reply)
            if last or (problem["code"] not in LATER and reply.status_code not in (502, 504)):
                raise _refusal(problem, reply.status_code)
            time.sleep(max(wait, _seconds(reply.headers.get("Retry-After"))))
        raise AssertionError("the last attempt returns or raises")

    def _read(self, reply: httpx.Response) -> Reply:
        try:
            return reply.json()
        except ValueError:
            raise refusals.STATUS_UNKNOWN(url=self.url, status=reply.status_code) from None

    def _problem(self, reply: httpx.Response) -> dict[str, str]:
        """Read the parts of a refusal; of a reply that no sfumato server sent, say that."""
        try:
            parts = reply.json()
        except ValueError:
            parts = None
        if isinstance(parts, dict) and all(isinstance(parts.get(part), str) for part in _PARTS):
            return {part: parts[part] for part in _PARTS}
        return refusals.STATUS_UNKNOWN(url=self.url, status=reply.status_code).record()

    def _unreachable(self, headers: Mapping[str, str]) -> Refused:
        key = headers.get("Idempotency-Key")
        if key is None:
            return refusals.UNREACHABLE(url=self.url, attempts=self.retries + 1)
        return refusals.RELEASE_UNANSWERED(url=self.url, key=key)


def _refusal(problem: Mapping[str, str], status: int) -> Exception:
    """Return the exception that the library would raise for this problem."""
    if problem["code"] in FAILED:
        return Failed()
    return (BudgetExceeded if status == 402 else Refused).restore(problem)


def _address(url: str, *, insecure: bool) -> str:
    """Check the address of a server."""
    try:
        parts = urlsplit(url)
        is_valid = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and not (parts.username or parts.password or parts.query or parts.fragment)
        )
        _ = parts.port
    except (ValueError, AttributeError, TypeError):
        parts, is_valid = urlsplit(""), False
    if not is_valid:
        raise refusals.NOT_AN_ADDRESS(url=url)
    if parts.scheme == "http" and parts.hostname not in _LOCAL and not insecure:
        raise refusals.PLAIN_HTTP(url=url, host=parts.hostname)
    return url.rstrip("/")


def _seconds(header: str | None) -> float:
    """The seconds that the server asks the client to wait, at most 10."""
    return (
        min(10.0, float(header))
        if header is not None and header.isdecimal() and len(header) < 6
        else 0.0
    )
