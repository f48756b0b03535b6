"""Processes that begin the same book at the same moment.

`python -m tests.ledger.beginnings FOLDER-OR-URL WORKERS REPEATS` runs this.
"""

from __future__ import annotations

import json
import os
import sys

import sfumato as sf

from .fresh import fresh


def begin(path: str) -> sf.Ledger:
    return sf.Ledger.open(
        path, budget=sf.Pure(1), dataset="visits", unit="patient", relation="add-remove"
    )


def main(path: str, workers: int) -> dict[str, object]:
    start, go = os.pipe()
    heads, tell = os.pipe()
    for _ in range(workers):
        if os.fork() == 0:
            os.close(go)
            os.read(start, 1)
            try:
                outcome = str(begin(path).head)
            except sf.Refused as refusal:
                outcome = refusal.code
            os.write(tell, f"{outcome}\n".encode())
            os._exit(0)
    os.close(go)
    os.close(tell)
    for _ in range(workers):
        os.wait()
    with os.fdopen(heads) as pipe:
        outcomes = [line.strip() for line in pipe]
    ledger = sf.Ledger.open(path)
    checked = ledger.verify(ledger.head)
    summary = {
        "heads": len({line for line in outcomes if ":" in line}),
        "refused": [line for line in outcomes if ":" not in line],
    }
    return {**summary, "entries": ledger.head.number, "problems": checked.problems}


if __name__ == "__main__":
    folder, workers, repeats = sys.argv[1:]
    print(json.dumps([main(fresh(folder, n), int(workers)) for n in range(int(repeats))]))
