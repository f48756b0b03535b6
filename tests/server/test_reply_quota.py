"""The room that replies take: bounded from their shape before a charge, and counted for each
analyst.
"""

from __future__ import annotations

import time
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.server import reply_quota
from sfumato.server.config import read
from sfumato.server.http import encode_replies
from sfumato.server.reply_quota import ReplyQuota, reply_bytes
from sfumato.server.request_store import ROW, RequestKey, RequestStore

TEXTS = [
    "SELECT COUNT(*) AS c FROM v",
    "SELECT t, COUNT(*) AS c, AVG(x) AS m, STDDEV(x) AS s FROM v GROUP BY t",
    "SELECT k, t, SUM(x) AS s, COUNT(DISTINCT u) AS d FROM v GROUP BY k, t",
    f"SELECT t, HISTOGRAM(x, [{', '.join(str(i / 7) for i in range(60))}]) AS h FROM v GROUP BY t",
    "SELECT t, QUANTILES(x, [0.1, 0.5, 0.9]) AS q, MEDIAN(x) AS m FROM v GROUP BY t",
    'SELECT t, RATIO(x, 1 + x) AS "a name with \\"" FROM v GROUP BY t'.replace('\\"', "é"),
    f"SELECT {', '.join(f'SUM(x + {i}) AS c{i}' for i in range(60))} FROM v",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_reply_is_no_larger_than_its_bound(text: str) -> None:
    """16 MB of disk for each answer at ε = 10⁻⁹: how much a reply takes is bounded before it is
    charged. The bound holds, and is within a factor of eight.
    """
    rows = pa.table({"u": [1, 2], "x": [1.0, 2.0], "k": ["a", "b"], "t": ["c", "d"]})
    keys = {"k": ["a", "b"], "t": [f"key {i} “ü”" for i in range(40)]}
    with sf.protect(
        rows, name="v", unit="u", budget=1e6, max_rows=4, bounds={"x": (0, 100)}, keys=keys
    ) as table:
        plan, answer = table.plan(text, epsilon=1), table.sql(text, epsilon=1)
        columns = dict.fromkeys(plan.kinds, 1) | {
            column.name: max(1, len(column.edges) - 1) for column in plan.columns
        }
        pieces = [3 if piece.form == "point" else piece.cells for piece in plan.components]
        domains = dict(zip(plan.query.keys, plan.query.domains, strict=True))
        bound = reply_bytes(
            domains, columns, pieces, len(f"{text}{plan.text}{plan.declared}".encode())
        )
    assert (
        len(answer.to_json())
        <= len(encode_replies.reply(answer))
        <= bound
        <= 8 * len(encode_replies.reply(answer))
    )


def records(tmp_path: Any) -> tuple[RequestStore, ReplyQuota]:
    config = read(
        (
            '[server]\nstored_per_analyst = "1 MiB"\n[datasets.visits]\nsource = '
            '"v.parquet"\nbudget = 1\n'
        ),
        tmp_path,
    )
    state = RequestStore(config.tokens)
    return state, ReplyQuota(config, state)


def store(state: RequestStore, key: str, body: bytes) -> None:
    request = RequestKey("visits", "ada", key)
    state.begin(request, "digest", time.time() + 60)
    state.store(request, {encode_replies.JSON: body})


def test_what_is_kept_for_somebody_is_counted(tmp_path: Any) -> None:
    state, _ = records(tmp_path)
    assert state.stored_bytes("visits", "ada") == 0
    store(state, "a", b"x" * 1000)
    store(state, "b", b"x" * 1000)  # the same bytes are kept once
    store(state, "c", b"y" * 500)
    assert state.stored_bytes("visits", "ada") == 3 * ROW + 1500
    assert state.stored_bytes("visits", "bob") == state.stored_bytes("clinic", "ada") == 0
    state.drop_old(time.time() + 120, 100)
    assert state.stored_bytes("visits", "ada") == 0
    state.close()


def test_a_reply_that_does_not_fit_is_refused_for_this_name_alone(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, quota = records(tmp_path)
    ada, bob = RequestKey("visits", "ada", "new"), RequestKey("visits", "bob", "new")
    quota.check(ada, 2**20)
    store(state, "a", b"x" * 2**19)
    quota.add(ada, 2**19 + ROW)
    quota.check(ada, 2**18)
    quota.check(bob, 2**20)
    with pytest.raises(Refused) as caught:
        quota.check(ada, 2**19)
    assert caught.value.code == "server.stored"
    assert "stored_per_analyst" in caught.value.reason
    store(state, "b", b"y" * 2**19)  # by another process, of which this one hears within a minute
    quota.check(ada, 2**18)
    monkeypatch.setattr(reply_quota, "COUNTED", 0.0)
    quota._used.clear()
    for size in (1, None):  # also where the size is not known before
        with pytest.raises(Refused):
            quota.check(ada, size)
    state.close()
