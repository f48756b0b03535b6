"""Requests to a server: sent again with the same key where nobody answered, and every refusal as
the one that the library raises.

*Again*     A release carries a key of its own. Whatever is lost on the way, the same request with
            the same key gets the same bytes and is charged once, so it is sent again, a little
            later each time, until there is an answer or patience ends.
*Token*     goes into one header, to one address: no redirect is followed, and over plain HTTP only
            this computer is spoken to, unless one insists. Over plain HTTP a proxy would be handed
            the token to read, so what the environment says of proxies holds for HTTPS alone, which
            goes through them sealed.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..errors import Failed, Refused
from ..ledger import BudgetExceeded

RETRIES = 6
LATER = frozenset({"server.running", "server.rate", "server.busy", "server.internal"})
"""Codes of problems that pass: the same request may be answered later."""
FAILED = frozenset({"server.deadline", "server.lost", "server.internal"})
"""Codes of what broke after the charge: there is no answer, and what was charged stays charged."""
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_TOKEN = re.compile(r"[\x21-\x7e]{8,512}")
_PARTS = ("code", "place", "reason", "rewrite")


class Wire:
    """One server, and one token for it."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 60.0,
        retries: int = RETRIES,
        insecure: bool = False,
        transport: Any = None,
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise missing("httpx") from None
        self.url = _address(url, insecure=insecure)
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise Refused(
                "client.token",
                "token=…",
                "a token is the text that `sfumato token` printed",
                'sf.connect(url, token="sft_…")',
            )
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

    def get(self, path: str, **asked: Any) -> Any:
        """What the server says of something."""
        return self._sent(
            "GET", path, params={name: value for name, value in asked.items() if value is not None}
        )

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """The reply to a question."""
        headers = {"Content-Type": "application/json"} | (
            {"Idempotency-Key": key} if key is not None else {}
        )
        more = {} if timeout is None else {"timeout": timeout}
        return self._sent(
            "POST",
            path,
            content=json.dumps(body, ensure_ascii=False).encode(),
            headers=headers,
            **more,
        )

    def close(self) -> None:
        self._http.close()

    def _sent(self, method: str, path: str, **request: Any) -> Any:
        import httpx

        for attempt in range(self.retries + 1):
            last, wait = attempt == self.retries, min(2.0, 0.1 * 2**attempt)
            try:
                reply = self._http.request(method, path, **request)
            except (
                httpx.TransportError
            ):  # its text may name more of the network than is anybody's business
                if last:
                    raise self._unreachable(request) from None
                time.sleep(wait)
                continue
            if reply.status_code == 200:
                return self._read(reply)
            problem = self._problem(reply)
            if last or (problem["code"] not in LATER and reply.status_code not in (502, 504)):
                raise _refusal(problem, reply.status_code)
            time.sleep(max(wait, _seconds(reply.headers.get("Retry-After"))))
        raise AssertionError("the last attempt returns or raises")

    def _read(self, reply: Any) -> Any:
        try:
            return reply.json()
        except ValueError:
            raise self._strange(reply.status_code) from None

    def _problem(self, reply: Any) -> dict[str, str]:
        """What is said of a problem; of a reply that is none of ours, that."""
        try:
            found = reply.json()
        except ValueError:
            found = None
        if isinstance(found, dict) and all(isinstance(found.get(part), str) for part in _PARTS):
            return {part: found[part] for part in _PARTS}
        strange = self._strange(reply.status_code)
        return {part: getattr(strange, part) for part in _PARTS}

    def _strange(self, status: int) -> Refused:
        return Refused(
            "client.reply",
            f"{self.url}: status {status}",
            "this is not a reply of a sfumato server",
            "the address that `sfumato serve` prints",
        )

    def _unreachable(self, request: Mapping[str, Any]) -> Refused:
        key = (request.get("headers") or {}).get("Idempotency-Key")
        if key is None:
            return Refused(
                "client.unreachable",
                self.url,
                f"nobody answered, {self.retries + 1} times",
                "the address that `sfumato serve` prints; is it running?",
            )
        reason = (
            "nobody answered; whether this was charged is not known here, and asked again "
            "with the same key it is charged once"
        )
        return Refused("client.unreachable", self.url, reason, f"the same call with key={key!r}")


def unreadable(what: str, reason: str = "it is not one that this version can read") -> Refused:
    """A reply of a server that speaks otherwise."""
    return Refused("client.reply", what, reason, "the same version of sfumato on both sides")


def missing(library: str) -> Refused:
    """What an installation without extras lacks."""
    return Refused(
        "client.missing",
        "connect(…)",
        f"{library} is not installed",
        "pip install 'sfumato[tables,server]'",
    )


def _refusal(problem: Mapping[str, str], status: int) -> Exception:
    """What the library would have raised."""
    if problem["code"] in FAILED:
        return Failed()
    return (BudgetExceeded if status == 402 else Refused)(*(problem[part] for part in _PARTS))


def _address(url: str, *, insecure: bool) -> str:
    """The address of a server, checked."""
    try:
        found = urlsplit(url)
        known = (
            found.scheme in ("http", "https")
            and bool(found.hostname)
            and not (found.username or found.password or found.query or found.fragment)
        )
        _ = found.port
    except (ValueError, AttributeError, TypeError):
        found, known = urlsplit(""), False
    if not known:
        raise Refused(
            "client.url",
            f"{url!s:.80}",
            "a server has an address of its own",
            "http://127.0.0.1:8000 or https://dp.example.org",
        )
    if found.scheme == "http" and found.hostname not in _LOCAL and not insecure:
        reason = "over plain HTTP the token and the answers can be read on the way"
        raise Refused(
            "client.url",
            f"{url!s:.80}",
            reason,
            "https://…, or insecure=True where the network is your own",
        )
    return url.rstrip("/")


def _seconds(header: str | None) -> float:
    """How long the server asks to be left alone, within reason."""
    return (
        min(10.0, float(header))
        if header is not None and header.isdecimal() and len(header) < 6
        else 0.0
    )
