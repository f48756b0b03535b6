"""Lines that could not be read are counted, and told."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sfumato.attacks.differencing import differencing
from sfumato.attacks.lib import unread_lines
from sfumato.attacks.lib.owner_table import read_columns
from sfumato.attacks.lib.unread_lines import find_unread
from sfumato.attacks.uniqueness import uniqueness
from sfumato.errors import Refused

GOOD = "".join(f"{'fm'[i % 2]},{i % 90},Roma\n" for i in range(1000))
BAD = "".join(f"{'fm'[i % 2]},{i % 90},Forlì\n" for i in range(600))


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A thousand lines that are the same in both encodings, and six hundred that are not."""
    (tmp_path / "people.csv").write_bytes(("sex,age,city\n" + GOOD + BAD).encode("latin-1"))
    return tmp_path / "people.csv"


def test_what_is_left_out_is_told(mixed: Path) -> None:
    result = uniqueness(mixed, ["sex", "age"], sensitive="city")
    assert result.n == 1000
    assert result.unread is not None
    assert (result.unread.lines, result.unread.of, result.unread.foreign) == (600, 1600, True)
    assert result.sentences[0].startswith(
        "600 of 1600 lines could not be read: the file is not UTF-8, so its encoding is "
        "the likely cause"
    )


def test_an_attack_that_does_not_tell_refuses(mixed: Path) -> None:
    for call in (lambda: read_columns(mixed), lambda: differencing(str(mixed), {"age": 1}, "city")):
        with pytest.raises(Refused) as refused:
            call()
        assert refused.value.code == "attacks.lines"
        assert "600 of 1600 lines could not be read" in refused.value.reason
        assert "iconv" in refused.value.rewrite


def test_a_file_of_which_nothing_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(("sex,age,city\n" + BAD).encode("latin-1"))
    with pytest.raises(Refused) as refused:
        uniqueness(tmp_path / "people.csv", ["sex"])
    assert refused.value.code == "attacks.lines"
    assert "600 of 600 lines" in refused.value.reason
    assert "Latin-1" in refused.value.reason


def test_names_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(("sex,età\n" + "f,20\n" * 9).encode("latin-1"))
    with pytest.raises(Refused) as refused:
        uniqueness(tmp_path / "people.csv", ["sex"])
    assert refused.value.code == "table.file"
    assert "Latin-1" in refused.value.reason


def test_commas_and_quotes(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(
        'sex,city\nf,Roma\nf,Roma,Bari\nm\n\nm,"Bari\nm,Forlì\n', encoding="utf-8"
    )
    result = uniqueness(tmp_path / "people.csv", ["sex"])
    assert result.n == 2
    assert result.unread is not None
    assert (result.unread.lines, result.unread.of, result.unread.foreign) == (3, 5, False)
    assert "more or fewer fields" in result.sentences[0]


@pytest.mark.parametrize(
    "text",
    ["a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n\r\n3,4", "\ufeffa,b\n\n\n1,2\n3,4\n\n", "a,b\r1,2\r3,4\r"],
    ids=["unix", "dos", "mark", "mac"],
)
@pytest.mark.parametrize("at_once", [1, 1 << 22])
def test_a_whole_file_has_nothing_unread(
    tmp_path: Path, text: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_lines, "_AT_ONCE", at_once)
    (tmp_path / "t.csv").write_bytes(text.encode("utf-8"))
    read = read_columns(tmp_path / "t.csv")
    assert (read.n, read.unread) == (2, None)


def test_packed_files_and_several(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write("a,b\n1,2\n3,é\n".encode("latin-1"))
    (tmp_path / "b.csv").write_text("a,b\n5,6\n", encoding="utf-8")
    result = find_unread([str(tmp_path / "a.csv.gz"), str(tmp_path / "b.csv")], 2)
    assert result is not None
    assert (result.lines, result.of, result.foreign) == (1, 3, True)
    assert find_unread([str(tmp_path / "b.csv")], 1) is None


def test_a_letter_over_the_edge_of_a_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two bytes of ì come one at a time: it is UTF-8 all the same. Where the file ends after
    the first of them it is not.
    """
    monkeypatch.setattr(unread_lines, "_AT_ONCE", 1)
    (tmp_path / "t.csv").write_bytes("a\nì\n1".encode())
    result = find_unread([str(tmp_path / "t.csv")], 1)
    assert result is not None
    assert not result.foreign
    (tmp_path / "t.csv").write_bytes("a\n1\nì".encode()[:-1])
    result = find_unread([str(tmp_path / "t.csv")], 1)
    assert result is not None
    assert result.foreign
