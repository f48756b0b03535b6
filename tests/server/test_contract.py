"""The OpenAPI document is a contract: schemathesis holds a running service against it, every endpoint, every check, in every phase."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sfumato.server.roles import MAY

from .service import Running

pytestmark = pytest.mark.xdist_group("server")

PHASES = ("examples", "coverage", "fuzzing", "stateful")
HOOKS = Path(__file__).with_name("contract_hooks.py")
CONFIG = """
hooks = "contract_hooks.py"

[parameters]
"path.dataset" = "visits"

[warnings]
display = ["unresolvable_reference", "missing_test_data", "validation_mismatch"]
fail-on = ["unresolvable_reference"]

[checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 402, 401, 403, 404, 409, 429]

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 408, 409, 410, 413, 414, 415, 422, 429, 431]
"""
"""What a SELECT may say is not in the document: a refusal of its text (400) or of its price (402) is no broken contract. What is wrong may also be too long for
anything else to be said of it (413, 414, 431); a failure (5xx), which schemathesis would let pass here, is none of the ways to refuse."""


def held(service: Running, folder: Path, who: str, examples: int, seed: int, phases: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run schemathesis against a service. Who may not ask is not sent to ask: that is the matrix's matter."""
    (folder / "schemathesis.toml").write_text(CONFIG, encoding="utf-8")
    (folder / "contract_hooks.py").write_bytes(HOOKS.read_bytes())
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run", f"{service.url}/openapi.json", "--no-color"]
    checks = ["--checks", "all", "--phases", ",".join(phases), "--generation-database", "none", "--request-timeout", "60"]
    amount = ["--max-examples", str(examples), "--seed", str(seed), "--suppress-health-check", "all"]
    token = ["--header", f"Authorization: Bearer {service.made.tokens[who]}"]
    only = [] if who == "ada" else ["--include-method", "GET"]
    return subprocess.run([*command, *checks, *amount, *token, *only], cwd=folder, capture_output=True, text=True, timeout=3000)


def check(service: Running, folder: Path, who: str, examples: int, seed: int, phases: Sequence[str] = PHASES) -> None:
    found = held(service, folder, who, examples, seed, phases)
    assert found.returncode == 0, found.stdout[-6000:] + found.stderr[-2000:]
    assert f"Tested: {len(MAY) if who == 'ada' else sum(method == 'GET' for method, _ in MAY)}" in found.stdout
    assert "Stateful (not applicable)" not in found.stdout
    assert service.process.poll() is None


@pytest.mark.parametrize(("who", "phases"), [("ada", PHASES), ("boss", PHASES[2:])], ids=["analyst", "owner"])
def test_the_contract_holds(service: Running, tmp_path: Path, who: str, phases: Sequence[str]) -> None:
    check(service, tmp_path, who, 50, 20_261_116, phases)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["ada", "boss", "auditor"])
def test_the_contract_holds_for_long(service: Running, tmp_path: Path, who: str) -> None:
    check(service, tmp_path, who, 1000, 31)


def test_a_broken_contract_is_seen(service: Running, tmp_path: Path) -> None:
    """The twin: a document that promises another type for one field of one reply."""
    document = service.http.get(f"{service.url}/openapi.json").json()
    document["components"]["schemas"]["Health"]["properties"]["version"] = {"type": "integer"}
    (tmp_path / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "schemathesis.toml").write_text("", encoding="utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--url", service.url, "--include-path", "/api/health"]
    found = subprocess.run([*command, "--max-examples", "5"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert found.returncode == 1
    assert "Response violates schema" in found.stdout
