"""Templates escape what they are given, miss nothing silently, and hold nothing that runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from sfumato.templates import fill_template as module
from sfumato.templates.fill_template import fill_template

TEMPLATES = sorted(Path(module.__file__).parent.glob("*.html"))


def test_values_are_escaped() -> None:
    text = "<script>alert('x')</script>"
    page = fill_template("attack.html", sentences=(text,), heads=(text,), rows=((text,),))
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;") == 3


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="heads"):
        fill_template("attack.html", sentences=(), rows=((1,),))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_nothing_escapes_the_escaping(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe\b|autoescape|Markup", text)
    assert not re.search(r"<script|<link|<iframe|https?:|\son[a-z]+=", text)
