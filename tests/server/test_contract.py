"""The OpenAPI document is a contract: schemathesis holds a running service against it, every
endpoint, every check, in every phase.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
"""What a SELECT may say is not in the document: a refusal of its text (400) or of its price (402)
is no broken contract. What is wrong may also be too long for anything else to be said of it (413,
414, 431); a failure (5xx), which schemathesis would let pass here, is none of the ways to
refuse.
"""


@dataclass(frozen=True)
class Run:
    """Schemathesis at work, and where it writes what it finds."""

    process: subprocess.Popen[bytes]
    output: Path


def begun(
    service: Running,
    folder: Path,
    who: str,
    examples: int,
    seed: int,
    phases: Sequence[str] = PHASES,
) -> Run:
    """Begin to hold a service against its contract. Who may not ask is not sent to ask: that is the
    matrix's matter.
    """
    (folder / "schemathesis.toml").write_text(CONFIG, encoding="utf-8")
    (folder / "contract_hooks.py").write_bytes(HOOKS.read_bytes())
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "--config-file",
        "schemathesis.toml",
        "run",
        f"{service.url}/openapi.json",
        "--no-color",
    ]
    checks = [
        "--checks",
        "all",
        "--phases",
        ",".join(phases),
        "--generation-database",
        "none",
        "--request-timeout",
        "60",
    ]
    amount = [
        "--max-examples",
        str(examples),
        "--seed",
        str(seed),
        "--suppress-health-check",
        "all",
    ]
    token = ["--header", f"Authorization: Bearer {service.deployment.tokens[who]}"]
    only = [] if who == "ada" else ["--include-method", "GET"]
    output = folder / "said.txt"
    with output.open("wb") as sink:
        return Run(
            subprocess.Popen(
                [*command, *checks, *amount, *token, *only],
                cwd=folder,
                stdout=sink,
                stderr=subprocess.STDOUT,
            ),
            output,
        )


def check(service: Running, run: Run, who: str) -> None:
    """Wait for what was found: nothing."""
    try:
        status = run.process.wait(3000)
    finally:
        run.process.kill()
    output = run.output.read_text(encoding="utf-8")
    assert status == 0, output[-6000:]
    assert (
        f"Tested: {len(MAY) if who == 'ada' else sum(method == 'GET' for method, _ in MAY)}"
        in output
    )
    assert "Stateful (not applicable)" not in output
    assert service.process.poll() is None


ASKERS = {"ada": PHASES, "boss": PHASES[2:]}


@pytest.fixture(scope="module")
def runs(service: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    """Both at once: one makes its next request while the other waits for a reply."""
    runs_by_asker = {
        who: begun(service, tmp_path_factory.mktemp("contract"), who, 30, 20_261_116, phases)
        for who, phases in ASKERS.items()
    }
    yield runs_by_asker
    for run in runs_by_asker.values():
        run.process.kill()
        run.process.wait()


@pytest.mark.parametrize("who", ASKERS)
def test_the_contract_holds(service: Running, runs: dict[str, Run], who: str) -> None:
    check(service, runs[who], who)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["ada", "boss", "auditor"])
def test_the_contract_holds_for_long(service: Running, tmp_path: Path, who: str) -> None:
    check(service, begun(service, tmp_path, who, 1000, 31), who)


def test_a_broken_contract_is_seen(service: Running, tmp_path: Path) -> None:
    """The twin: a document that promises another type for one field of one reply."""
    document = service.http.get(f"{service.url}/openapi.json").json()
    document["components"]["schemas"]["Health"]["properties"]["version"] = {"type": "integer"}
    (tmp_path / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "schemathesis.toml").write_text("", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "run",
        "openapi.json",
        "--url",
        service.url,
        "--include-path",
        "/api/health",
    ]
    completed = subprocess.run(
        [*command, "--max-examples", "5"], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert completed.returncode == 1
    assert "Response violates schema" in completed.stdout
