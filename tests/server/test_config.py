"""What a configuration may say, and what is said of one that is wrong."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from sfumato.errors import Refused
from sfumato.guarantees import Approx, Pure
from sfumato.server.config import _SERVER, DECLARED, load, read

SHORT = '[datasets.visits]\nsource = "visits.parquet"\nbudget = 0.3\n'
LONG = """
[server]
host = "0.0.0.0"
port = 9000
workers = 4
ledger = "postgresql://role@host/books"
deadlines = [0.025, 1, 4]
memory = "512 MiB"
children = 2
overruns_per_analyst = 3
tls_cert = "server.crt"
tls_key = "server.key"
rate = { token = 10, address = 2.5 }

[datasets.visits]
source = { patients = "patients.parquet", visits = "visits.parquet" }
public = { cities = "cities.csv" }
unit = "patients.id"
links = { "visits.patient" = "patients.id" }
budget = { notion = "Pure", epsilon = "1/3" }
about = "who came when"
deadline = 4
ledger = "own.ledger"
bounds = { "visits.spend" = [0.5, 100] }

[datasets.visits.analysts]
ada = 0.1
"bo@lab" = { notion = "Pure", epsilon = "0.2" }
"""


def test_the_shortest(tmp_path: Path) -> None:
    config = read(SHORT, tmp_path)
    dataset = config.datasets["visits"]
    assert dataset.budget == Approx(Fraction(3, 10), Fraction(1, 10**6))
    assert dataset.declared == {"name": "visits"}
    assert dataset.source == str(tmp_path / "visits.parquet")
    assert (dataset.ledger, config.tokens) == (
        str(tmp_path / "curator.ledger"),
        str(tmp_path / "tokens.db"),
    )
    assert (config.host, config.workers, config.deadlines) == (
        "127.0.0.1",
        1,
        (1.0, 4.0, 16.0),
    )


def test_all_of_it(tmp_path: Path) -> None:
    config = read(LONG, tmp_path)
    dataset = config.datasets["visits"]
    assert (config.host, config.port, config.workers, config.children, config.memory) == (
        "0.0.0.0",
        9000,
        4,
        2,
        512 * 2**20,
    )
    assert (
        config.tokens == "postgresql://role@host/books"
    )  # hosts that share a ledger share the rest
    assert (
        config.token_rate.per_second,
        config.address_rate.burst,
        config.overruns_per_analyst,
    ) == (
        10,
        10,
        3,
    )
    assert config.tls_key == str(tmp_path / "server.key")
    assert dataset.source == {
        "patients": str(tmp_path / "patients.parquet"),
        "visits": str(tmp_path / "visits.parquet"),
    }
    assert dataset.budget == Pure(Fraction(1, 3))
    assert dataset.analysts == {
        "ada": Approx(Fraction(1, 10), Fraction(1, 10**6)),
        "bo@lab": Pure(Fraction(1, 5)),
    }
    assert dataset.deadline == 4
    assert dataset.ledger == str(tmp_path / "own.ledger")


def test_an_address_is_in_no_text(tmp_path: Path) -> None:
    assert "role@host" not in repr(read(LONG, tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "= 1",
        "[server]\n",
        '[datasets."a b"]\nsource = "a"\nbudget = 1\n',
        "[datasets.a]\nbudget = 1\n",
        '[datasets.a]\nsource = "a"\n',
        "[datasets.a]\nsource = 1\nbudget = 1\n",
        SHORT + "colour = 1\n",
        SHORT + 'declaration = "a.toml"\nunit = "x"\n',
        SHORT + 'declaration = "missing.toml"\n',
        SHORT + "[datasets.visits.analysts]\n'a b' = 1\n",
        SHORT + "deadline = 0\n",
        SHORT + "deadline = 0.005\n",
        SHORT + "most_releases = 0\n",
        SHORT + "overruns = 3\n",
        SHORT + 'public = "cities.parquet"\n',
        SHORT + "[datasets.visits.overruns]\nada = 0\n",
        *(
            f"[server]\n{line}\n{SHORT}"
            for line in (
                "port = 70000",
                "workers = 0",
                "deadlines = []",
                "deadlines = [4, 1]",
                "deadlines = [true]",
                'memory = "1"',
                "overruns_per_analyst = 0",
                "most_releases = 1.5",
                "plan_seconds = 0",
                "plan_seconds = true",
                "planning_per_minute = 0.5",
                "waiting_per_analyst = 0",
                'answer_bytes = "8"',
                'stored_per_analyst = "1 KiB"',
                "connections_per_address = 0",
            )
        ),
        *(
            f"[server]\n{line}\n{SHORT}"
            for line in (
                "colour = 1",
                'tls_cert = "a"',
                "rate = 5",
                "rate = { token = 0 }",
                "rate = { other = 1 }",
                "host = 1",
            )
        ),
    ],
    ids=str,
)
def test_what_is_wrong_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        read(text, tmp_path)
    assert caught.value.code == "server.config"


@pytest.mark.parametrize(
    "budget",
    ["{ epsilon = 1 }", '{ notion = "Pure" }', '{ notion = "Loss" }', '"much"', "-1", "[1]"],
)
def test_what_is_no_budget_is_refused(budget: str, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        read(SHORT.replace("0.3", budget), tmp_path)


def test_a_declaration_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "visits.toml").write_text(
        'sfumato = "declaration"\nversion = 1\n[table]\nname = "visits"\nmax_rows = 3\n'
        'unit = ["id"]\n[columns.id]\ntype = "int64"\n'
    )
    dataset = read(SHORT + 'declaration = "visits.toml"\n', tmp_path).datasets["visits"]
    assert (dataset.declared["unit"], dataset.declared["max_rows"]) == (("id",), 3)


def test_two_datasets_have_two_accounts(tmp_path: Path) -> None:
    """Else one would be given what the other has stored, and would spend its budget."""
    table = '[table]\nname = "{}"\nmax_rows = 3\nunit = ["id"]\n[columns.id]\ntype = "int64"\n'
    for file, name in (("one.toml", "visits"), ("other.toml", "others")):
        (tmp_path / file).write_text('sfumato = "declaration"\nversion = 1\n' + table.format(name))
    template = '[datasets.{0}]\nsource = "{0}.parquet"\nbudget = 1\ndeclaration = "{1}.toml"\n'
    with pytest.raises(Refused) as refused:
        read(template.format("a", "one") + template.format("b", "one"), tmp_path)
    assert (refused.value.code, refused.value.place) == ("server.config", "[datasets.b] name")
    assert (
        len(read(template.format("a", "one") + template.format("b", "other"), tmp_path).datasets)
        == 2
    )
    assert (
        len(
            read(
                template.format("a", "one") + template.format("b", "one") + 'ledger = "b.ledger"\n',
                tmp_path,
            ).datasets
        )
        == 2
    )


def test_the_same_file_as_a_second_dataset_is_refused(tmp_path: Path) -> None:
    """One file was a second budget under a second name, without a word. A link, a pattern, a folder
    and a table of a DuckDB file are the same data, too.
    """
    (tmp_path / "data").mkdir()
    for name in ("data/a.parquet", "data/b.parquet", "c.duckdb"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "soft.parquet").symlink_to(tmp_path / "data/a.parquet")
    (tmp_path / "hard.parquet").hardlink_to(tmp_path / "data/a.parquet")

    def two(first: str, second: str) -> str:
        template = "[datasets.{}]\nsource = {}\nbudget = 1\n"
        return template.format("one", first) + template.format("two", second)

    same = [
        '"data/a.parquet"',
        '"data/../data/a.parquet"',
        '"soft.parquet"',
        '"hard.parquet"',
        '"data/*.parquet"',
        '"data"',
        '{ v = "data/a.parquet" }',
    ]
    same_table = [
        ('"c.duckdb"', '"c.duckdb::t"'),
        ('"c.duckdb::t"', '"c.duckdb::t"'),
        ('"gone.parquet"', '"./gone.parquet"'),
    ]
    of_server = 'source = "postgresql://h/d"\nbudget = 1\ntable = "{}"\n'
    texts = [two('"data/a.parquet"', source) for source in same] + [
        two(*pair) for pair in same_table
    ]
    texts.append(f"[datasets.one]\n{of_server.format('t')}[datasets.two]\n{of_server.format('t')}")
    for text in texts:
        with pytest.raises(Refused) as refused:
            read(text, tmp_path)
        assert (refused.value.code, refused.value.place) == (
            "server.config",
            "[datasets.two] source",
        ), text
    assert len(read(two('"data/a.parquet"', '"data/b.parquet"'), tmp_path).datasets) == 2
    assert len(read(two('"c.duckdb::s"', '"c.duckdb::t"'), tmp_path).datasets) == 2
    assert (
        len(
            read(
                f"[datasets.one]\n{of_server.format('t')}[datasets.two]\n{of_server.format('s')}",
                tmp_path,
            ).datasets
        )
        == 2
    )


def test_a_protected_file_is_no_public_table(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"")
    two = (
        '[datasets.one]\nsource = "a.parquet"\nbudget = 1\n[datasets.two]\nsource = '
        '"b.parquet"\nbudget = 1\npublic = { a = "a.parquet" }\n'
    )
    with pytest.raises(Refused) as refused:
        read(two, tmp_path)
    assert refused.value.place == "[datasets.two] public"


def test_limits_by_dataset_and_by_name(tmp_path: Path) -> None:
    """More overruns for one analyst were more for all of them: a name may have a number of its own,
    and so may a dataset for its releases.
    """
    text = (
        "[server]\noverruns_per_analyst = 3\nmost_releases = 50\n"
        + SHORT
        + "most_releases = 7\n[datasets.visits.overruns]\nada = 9\n"
    )
    config = read(text + SHORT.replace("visits", "other"), tmp_path)
    assert (
        config.overruns("visits", "ada"),
        config.overruns("visits", "bob"),
        config.overruns("other", "ada"),
    ) == (9, 3, 3)
    assert (
        config.releases("visits"),
        config.releases("other"),
        read(SHORT, tmp_path).releases("visits"),
    ) == (7, 50, 1000)


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "sfumato.toml").write_text(SHORT)
    assert load(tmp_path / "sfumato.toml").folder == tmp_path
    with pytest.raises(Refused):
        load(tmp_path / "other.toml")


def test_the_example_of_the_page_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "server.md").read_text(
        encoding="utf-8"
    )
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert read(example, tmp_path).datasets["visits"].deadline == 1


def test_the_page_lists_all_that_may_be_said() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "server.md").read_text(
        encoding="utf-8"
    )
    assert [name for name in (*_SERVER, *DECLARED) if name not in page] == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (SHORT + "unit = user_id\n", "line 4, column 8"),
        ('[server]\nledger = "postgresql://role:secret@host/books', "line 2"),
        ("[datasets.visits]\nbudget = 1\nbudget = 2\n", "line 3, column 11"),
    ],
    ids=["bare word", "open text", "twice"],
)
def test_a_text_that_is_not_toml_names_its_line(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(Refused) as refused:
        read(text, tmp_path)
    assert place in refused.value.place
    assert "secret" not in str(refused.value)


def test_a_misspelt_name_gets_the_nearest(tmp_path: Path) -> None:
    for text, rewrite in (
        (SHORT + 'units = "user_id"\n', "write unit instead of units"),
        ("[server]\nworker = 2\n" + SHORT, "write workers instead of worker"),
        (SHORT + "zzz = 1\n", "delete the key zzz"),
    ):
        with pytest.raises(Refused) as refused:
            read(text, tmp_path)
        assert refused.value.rewrite == rewrite


def test_a_missing_file_is_called_missing(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="there is no such file"):
        load(tmp_path / "sfumato.toml")
