"""Writers that go on while their server comes and goes: `storm.py URL NOTES WORKERS STOP [early]`.
They end when the file STOP is there.

Each notes a receipt in a file of its own when it has one, and how often it was told that there is
none. `early` is the twin: it notes first.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import sfumato as sf


def writer(url: str, notes: Path, name: str, stop: Path, *, early: bool) -> None:
    ledger, cost, turn = None, sf.Pure(1), 0
    with notes.open("a", encoding="utf-8") as file:
        while not stop.exists():
            turn += 1
            key = f"{name}-{turn}"
            try:
                ledger = ledger or sf.Ledger.open(url)
                if early:
                    file.write(f"receipt {key} -\n")
                receipt = ledger.charge(cost, key=key)
                file.write(f"receipt {key} {receipt.digest}\n")
            except sf.BudgetExceeded:
                file.write("full\n")
                time.sleep(0.002)
            except sf.Refused as refused:
                file.write(
                    f"{refused.code} "
                    f"{'unsure' if 'no receipt was given' in refused.reason else 'nothing'}\n"
                )
                time.sleep(0.01)
            file.flush()


def main(url: str, folder: Path, workers: int, stop: Path, *, early: bool) -> dict[str, int]:
    sf.Ledger.open(url).close()  # what has to be imported is, once
    for n in range(workers):
        if os.fork() == 0:
            try:
                writer(url, folder / f"{n}.notes", str(n), stop, early=early)
            except BaseException as error:  # a writer that ends otherwise is told to the test
                (folder / f"{n}.notes").open("a").write(f"broken {error!r}\n")
            os._exit(0)
    for _ in range(workers):
        os.wait()
    return {"workers": workers}


if __name__ == "__main__":
    url, folder, workers, stop, *more = sys.argv[1:]
    print(json.dumps(main(url, Path(folder), int(workers), Path(stop), early=bool(more))))
