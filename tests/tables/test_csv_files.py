"""CSV lines: each stands for itself, whatever is in it or around it; nothing raises, and nothing is
guessed.
"""

from __future__ import annotations

import csv
import gzip
import random
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sfumato.tables.engine.csv_files import lines_query, read_header
from sfumato.tables.engine.duckdb_engine import DuckDBEngine

from ..refusing import refusal

FIELD = re.compile(r'"(?:[^"]|"")*"|[^,"]*')


def read(*paths: Path, threads: int = 2, columns: str = "*") -> list[tuple[str | None, ...]]:
    texts = [str(path) for path in paths]
    engine = DuckDBEngine(paths=texts, threads=threads)
    try:
        return sorted(
            engine.connection.cursor()
            .execute(f"SELECT {columns} FROM {lines_query(texts, read_header(texts))}")
            .fetchall(),
            key=str,
        )
    finally:
        engine.close()


def oracle(data: bytes, count: int) -> list[tuple[str | None, ...]]:
    """The rule, in Python: one line at a time."""
    rows = []
    for line in re.split(rb"[\r\n]", data)[1:]:
        try:
            text = line.split(b"\0")[0].decode()
        except UnicodeDecodeError:
            continue
        fields, at = [], 0
        while text:
            match = FIELD.match(text, at)
            assert match is not None
            fields.append(match[0])
            at = match.end()
            if at >= len(text):
                break
            if text[at] != ",":
                fields = []
                break
            at += 1
        if len(fields) == count:
            rows.append(
                tuple((f[1:-1].replace('""', '"') if f[:1] == '"' else f) or None for f in fields)
            )
    return sorted(rows, key=str)


CASES: dict[str, tuple[bytes, list[tuple[str | None, ...]]]] = {
    "plain": (b"1,2,3\n4,5,6\n", [("1", "2", "3"), ("4", "5", "6")]),
    "no line break at the end": (b"1,2,3", [("1", "2", "3")]),
    "of Windows": (b"1,2,3\r\n4,5,6\r\n", [("1", "2", "3"), ("4", "5", "6")]),
    "of an old Macintosh": (b"1,2,3\r4,5,6\r", [("1", "2", "3"), ("4", "5", "6")]),
    "of all of them": (
        b"1,2,3\r\n4,5,6\n7,8,9\r\n",
        [("1", "2", "3"), ("4", "5", "6"), ("7", "8", "9")],
    ),
    "nothing": (b"", []),
    "empty lines": (b"\n\n1,2,3\n\n", [("1", "2", "3")]),
    "empty fields are null": (b',"",\n', [(None, None, None)]),
    "spaces are text": (b" 1 ,  ,3\n", [(" 1 ", "  ", "3")]),
    "too few": (b"1,2\n4,5,6\n", [("4", "5", "6")]),
    "too many": (b"1,2,3,4\n4,5,6\n", [("4", "5", "6")]),
    "quoted": (b'1,"two, or 2","say ""2"""\n', [("1", "two, or 2", 'say "2"')]),
    "a quote that is not closed": (b'1,"2,3\n4,5,6\n7,"8",9\n', [("4", "5", "6"), ("7", "8", "9")]),
    "a quote inside": (b'1,2"2,3\n4,5,6\n', [("4", "5", "6")]),
    "something after a quote": (b'1,"2"2,3\n4,5,6\n', [("4", "5", "6")]),
    "a line break in quotes": (b'1,"2\n2",3\n4,5,6\n', [("4", "5", "6")]),
    "not UTF-8": (b"1,\xff\xfe,3\n4,5,6\n", [("4", "5", "6")]),
    "Latin-1": (b"1,Forl\xec,3\n4,Forl\xc3\xac,6\n", [("4", "Forlì", "6")]),
    "looks like SQL": (b"1,'; DROP TABLE x; --,3\n", [("1", "'; DROP TABLE x; --", "3")]),
    "a comment": (b"#1,2,3\n", [("#1", "2", "3")]),
    "a backslash": (b"1,\\,3\\\n4,5,6\n", [("1", "\\", "3\\"), ("4", "5", "6")]),
    "a line longer than 2 MB": (b"1," + b"x" * 3_000_000 + b",3\n4,5,6\n", [("4", "5", "6")]),
    "a line longer than any buffer": (
        b"1," + b"x" * 40_000_000 + b",3\n4,5,6\n",
        [("4", "5", "6")],
    ),
    "NaN, null and true are text": (b"NaN,NULL,true\n", [("NaN", "NULL", "true")]),
}


@pytest.mark.parametrize("case", CASES)
def test_lines(tmp_path: Path, case: str) -> None:
    data, rows = CASES[case]
    path = tmp_path / "lines.csv"
    path.write_bytes(b"a,b,c\n" + data)
    assert read(path) == sorted(rows, key=str)


PARTS = [
    b"a",
    b"1",
    b",",
    b",",
    b"\n",
    b"\n",
    b'"',
    b"\r",
    b"\r\n",
    b"\xff",
    b"\0",
    b" ",
    b"\xc3\xa9",
    b'""',
    b"ab,cd,ef\n",
    b'"x","y","z"\n',
    b"\\",
    b"'",
    b"#",
]


def garbage(seed: int, count: int) -> bytes:
    generator = random.Random(seed)
    return b"".join(generator.choices(PARTS, k=count))


@pytest.mark.parametrize("seed", range(20))
def test_whatever_a_file_holds_it_is_read_by_the_rule(tmp_path: Path, seed: int) -> None:
    data = b"a,b,c\n" + garbage(seed, 5000)
    path = tmp_path / "garbage.csv"
    path.write_bytes(data)
    expected = oracle(data, 3)
    assert len(expected) > 100
    for threads in (1, 2, 8):
        assert read(path, threads=threads) == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_so_is_a_file_of_many_buffers(tmp_path: Path, seed: int) -> None:
    data = b"a,b,c\n" + garbage(seed, 100_000) * 300  # more than one buffer of 32 MB
    path = tmp_path / "garbage.csv"
    path.write_bytes(data)
    assert len(data) > 2**25
    expected = oracle(data, 3)
    for threads in (1, 8):
        assert read(path, threads=threads) == expected


def test_duckdbs_own_reader_would_join_lines(tmp_path: Path) -> None:
    path = tmp_path / "lines.csv"
    path.write_bytes(b'a,b,c\n1,"2,3\n4,5,6\n7,8,9\n')
    options = (
        "auto_detect = false, header = true, columns = {'a': 'VARCHAR', 'b': 'VARCHAR', 'c': "
        "'VARCHAR'}, ignore_errors = true, strict_mode = false"
    )
    assert (
        duckdb.connect().execute(f"SELECT * FROM read_csv('{path}', {options})").fetchall() == []
    ), "one person's quote swallowed everybody else"
    assert len(read(path)) == 2


def test_a_line_does_not_touch_another(tmp_path: Path) -> None:
    """With any line added, the rows that were there are still there: what a neighbour of the file
    is, is a neighbour of the table.
    """
    others = [b"1,2,3", b'"4","5","6"', b'7,"8, 8",9']
    path = tmp_path / "lines.csv"
    for added in (b'x,"y,z', b'"', b'""",,', b"\xff", b"x,y", b"x,y,z,w", b'1,"\0', b"\0"):
        for at in range(4):
            path.write_bytes(b"\n".join([b"a,b,c", *others[:at], added, *others[at:]]))
            rows = read(path)
            assert [row for row in rows if row[0] in "147"] == [
                ("1", "2", "3"),
                ("4", "5", "6"),
                ("7", "8, 8", "9"),
            ]
            assert len(rows) <= 4


def test_tabs_and_compressed_files(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(b'a\tb\n1,1\t"2\t2"\n')
    assert read(tmp_path / "x.tsv") == [("1,1", "2\t2")]
    with gzip.open(tmp_path / "x.csv.gz", "wb") as file:
        file.write(b"a,b\n1,2\n")
    assert read(tmp_path / "x.csv.gz") == [("1", "2")]


def test_several_files_are_one_table(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"{i}.csv").write_bytes(f"a,b\n{i},x\n".encode())
    assert read(*(tmp_path / f"{i}.csv" for i in range(3))) == [("0", "x"), ("1", "x"), ("2", "x")]


def test_many_columns(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(1000)]
    path = tmp_path / "wide.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([names, [str(i) for i in range(1000)], [f"{i}, {i}" for i in range(1000)]])
    assert read(path, columns="c0, c999") == [("0", "999"), ("0, 0", "999, 999")]
    path.write_text(",".join([*names, "one"]) + "\n")
    refusal(lambda: read_header([str(path)]), "table.file")


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        (b"a,b\n1,2\n", ("a", "b")),
        (b"\xef\xbb\xbfa,b\r\n", ("a", "b")),
        (b'"a, or b",c\n', ("a, or b", "c")),
        (b"a", ("a",)),
        (b"a,,b\n", ("a", "", "b")),  # refused later, with all other names
    ],
)
def test_the_first_line_names_the_columns(tmp_path: Path, data: bytes, columns: Any) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    assert read_header([str(tmp_path / "x.csv")]) == columns


@pytest.mark.parametrize("data", [b"", b"\n1,2\n", b"\xff\n", b'"a,b\n', b'a,"b"c\n'])
def test_a_first_line_that_names_none_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    refusal(lambda: read_header([str(tmp_path / "x.csv")]), "table.file")


def test_a_broken_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(b"not gzip")
    refusal(lambda: read_header([str(tmp_path / "x.csv.gz")]), "table.file")


@pytest.mark.parametrize("second_file", ["x.csv", "x.tsv"])
def test_files_with_other_first_lines_are_refused(tmp_path: Path, second_file: str) -> None:
    (tmp_path / "a.csv").write_bytes(b"a\n")
    (tmp_path / second_file).write_bytes(b"b\n" if second_file == "x.csv" else b"a\n")
    refusal(
        lambda: read_header([str(tmp_path / "a.csv"), str(tmp_path / second_file)]), "table.files"
    )


def test_a_first_line_in_another_encoding_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes("sex,età\nf,20\n".encode("latin-1"))
    refused = refusal(lambda: read_header([str(tmp_path / "people.csv")]), "table.file")
    assert "not UTF-8" in refused.reason
    assert "iconv" in refused.rewrite
