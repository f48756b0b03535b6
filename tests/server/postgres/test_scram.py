"""The exchange of SCRAM-SHA-256: the example of RFC 7677, and what must fail."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from sfumato.server.postgres import scram
from sfumato.server.postgres.scram import ScramError, ScramExchange, make_verifier

TOKEN = "sft_abcdefghijklmnop_" + "x" * 43


def client(
    exchange: ScramExchange, password: str, verifiers: list[str], flag: str = "n"
) -> tuple[int, bytes] | None:
    """Play the client's side, by the RFC."""
    bare = "n=,r=rOprNGfwEbeRWgbNEkqO"
    reply = exchange.first(f"{flag},,{bare}".encode()).decode()
    nonce, salt, rounds = (part[2:] for part in reply.split(","))
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(rounds))
    key = hmac.digest(salted, b"Client Key", "sha256")
    header = base64.b64encode(f"{flag},,".encode()).decode()
    without_proof = f"c={header},r={nonce}"
    signed = f"{bare},{reply},{without_proof}".encode()
    signature = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True))).decode()
    fitting = exchange.final(f"{without_proof},p={proof}".encode(), verifiers)
    if fitting is not None:
        server_key = hmac.digest(salted, b"Server Key", "sha256")
        expected = base64.b64encode(hmac.digest(server_key, signed, "sha256"))
        assert fitting[1] == b"v=" + expected, "the server proves that it has the verifier"
    return fitting


def test_the_example_of_the_rfc(monkeypatch: pytest.MonkeyPatch) -> None:
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    monkeypatch.setattr(scram, "salt_of", lambda _: salt)
    exchange = ScramExchange("user")
    exchange.first(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    exchange._nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    exchange._reply = f"r={exchange._nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    final = (
        "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    fitting = exchange.final(final.encode(), [make_verifier("user", "pencil")])
    assert fitting == (0, b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize("flag", ["n", "y"])
def test_a_token_opens(flag: str) -> None:
    others = [make_verifier("ada", TOKEN + str(i)) for i in range(3)]
    verifiers = [*others, make_verifier("ada", TOKEN)]
    fitting = client(ScramExchange("ada"), TOKEN, verifiers, flag)
    assert fitting is not None
    assert fitting[0] == 3


def test_what_does_not_open() -> None:
    verifier = make_verifier("ada", TOKEN)
    assert client(ScramExchange("ada"), TOKEN + "x", [verifier]) is None
    assert client(ScramExchange("ada"), TOKEN, []) is None
    assert client(ScramExchange("bob"), TOKEN, [verifier]) is None, "the salt is the name's"


def test_a_name_without_a_token_looks_like_any() -> None:
    first = b"n,,n=,r=rOprNGfwEbeRWgbNEkqO"
    replies = [ScramExchange("nobody").first(first).split(b",", 1)[1] for _ in range(2)]
    assert replies[0] == replies[1]
    assert replies[0] != ScramExchange("ada").first(first).split(b",", 1)[1]


@pytest.mark.parametrize(
    "message",
    [b"", b"n,,", b"p=tls-unique,,n=,r=abcdefgh", b"n,a=owner,n=,r=abcdefgh",
     b"n,,n=,r=" + b"x" * 999,
     b"n,,n=,r=abc\0defgh", b"\xff" * 40],
)  # fmt: skip
def test_a_wrong_first_message(message: bytes) -> None:
    with pytest.raises(ScramError):
        ScramExchange("ada").first(message)


@pytest.mark.parametrize("change", ["nonce", "binding", "proof", "cut", "bytes"])
def test_a_wrong_last_message(change: str) -> None:
    exchange = ScramExchange("ada")
    exchange.first(b"n,,n=,r=rOprNGfwEbeRWgbNEkqO")
    binding, nonce, proof = "biws", exchange._nonce, "A" * 43 + "="
    message = {
        "nonce": f"c={binding},r={nonce}x,p={proof}",
        "binding": f"c=eSws,r={nonce},p={proof}",
        "proof": f"c={binding},r={nonce},p={'!' * 44}",
        "cut": f"c={binding},r={nonce}",
        "bytes": "\xff" * 99,
    }[change]
    with pytest.raises(ScramError):
        exchange.final(message.encode("latin-1"), [make_verifier("ada", TOKEN)])


def test_the_verifier_does_not_hold_the_token() -> None:
    verifier = make_verifier("ada", TOKEN)
    assert verifier.startswith("SCRAM-SHA-256$4096:")
    assert "x" * 20 not in verifier
    assert verifier != make_verifier("bob", TOKEN)
