"""SCRAM-SHA-256 (RFC 5802, RFC 7677) with tokens as passwords: no token crosses the wire.

*Verifier*   The service stores `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey` when it creates
             a token, in PostgreSQL's own form. The token cannot be computed from it.
*Salt*       follows from the holder's name. So one exchange serves every token of a name, and a
             name without a token gets the same first message as any other. A token is 256 random
             bits: there is no dictionary that a secret salt would spoil.
*Same end*   An unknown name, a wrong token, an expired and a revoked one end alike.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from typing import NamedTuple

MECHANISM = "SCRAM-SHA-256"
ITERATIONS = 4096
NONCE = 18  # bytes
_VERIFIER = re.compile(r"SCRAM-SHA-256\$4096:[^$:]+\$([^$:]+):([^$:]+)", re.ASCII)
_FIRST = re.compile(r"([ny]),,(n=[^,]{0,200},r=([\x21-\x2b\x2d-\x7e]{8,256}))", re.ASCII)
_FINAL = re.compile(r"(c=([A-Za-z0-9+/=]{4,32}),r=([\x21-\x2b\x2d-\x7e]{8,512})),p=([^,]{44})")


class ScramError(Exception):
    """The client's message is none of the exchange's."""


class StoredKeys(NamedTuple):
    """The two keys of a verifier."""

    stored: bytes
    server: bytes


def make_verifier(name: str, token: str) -> str:
    """Return the verifier of a token that a person of this name holds."""
    salt = salt_of(name)
    salted = hashlib.pbkdf2_hmac("sha256", token.encode(), salt, ITERATIONS)
    stored = hashlib.sha256(_mac(salted, b"Client Key")).digest()
    texts = [
        base64.b64encode(part).decode() for part in (salt, stored, _mac(salted, b"Server Key"))
    ]
    return f"{MECHANISM}${ITERATIONS}:{texts[0]}${texts[1]}:{texts[2]}"


def salt_of(name: str) -> bytes:
    """Return the salt of a name, which is public."""
    return hashlib.sha256(b"sfumato postgres\0" + name.encode("utf-8", "replace")).digest()[:16]


def read_verifier(verifier: str) -> StoredKeys:
    """Return the keys of a stored verifier."""
    parts = _VERIFIER.fullmatch(verifier)
    if parts is None:
        raise ScramError
    return StoredKeys(base64.b64decode(parts[1]), base64.b64decode(parts[2]))


class ScramExchange:
    """The server's side of one exchange."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bare = self._reply = self._nonce = self._header = ""

    def first(self, message: bytes) -> bytes:
        """Answer the client's first message."""
        parts = _FIRST.fullmatch(message.decode("ascii", "replace"))
        if parts is None:
            raise ScramError
        flag, self._bare, nonce = parts.groups()
        self._header = f"{flag},,"
        self._nonce = nonce + base64.b64encode(secrets.token_bytes(NONCE)).decode()
        salt = base64.b64encode(salt_of(self._name)).decode()
        self._reply = f"r={self._nonce},s={salt},i={ITERATIONS}"
        return self._reply.encode()

    def final(self, message: bytes, verifiers: Sequence[str]) -> tuple[int, bytes] | None:
        """Return the place of the verifier that the client's proof fits, and the server's last
        message; None if it fits none.
        """
        parts = _FINAL.fullmatch(message.decode("ascii", "replace"))
        if parts is None:
            raise ScramError
        without_proof, binding, nonce, proof_text = parts.groups()
        try:
            proof = base64.b64decode(proof_text, validate=True)
            header = base64.b64decode(binding, validate=True)
        except binascii.Error:
            raise ScramError from None
        if header != self._header.encode() or nonce != self._nonce or len(proof) != 32:
            raise ScramError
        signed = f"{self._bare},{self._reply},{without_proof}".encode()
        fitting: tuple[int, bytes] | None = None
        for i, verifier in enumerate(verifiers):  # all of them: none ends sooner
            keys = read_verifier(verifier)
            signature = _mac(keys.stored, signed)
            client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
            if hmac.compare_digest(hashlib.sha256(client_key).digest(), keys.stored):
                last = b"v=" + base64.b64encode(_mac(keys.server, signed))
                fitting = i, last
        return fitting


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.digest(key, text, "sha256")
