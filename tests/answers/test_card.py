"""The release card: it fits its schema, says what it must, and holds neither data nor paths."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest

import sfumato as sf
from sfumato.answers import KINDS, Paid, card_schema, merge
from sfumato.answers.cards.card import NEEDED
from sfumato.guarantees.guarantee import NOTIONS

from ..refusing import refusal
from .examples import ABOUT, counted, noisy, visits
from .schema import problems

FULL = {
    "name": "Visits by city",
    "description": "How many, and how much they spend.",
    "curators": [
        "City of Bari",
        {"data_curator_name": "Region", "data_curator_type": "Government"},
    ],
    "intended_use": "planning",
    "region": "Italy",
    "sector": "Government",
    "source": "Dynamic",
    "justification": "by committee",
}

GIVEN = {
    "whole": visits(),
    "bare": counted([1], facts={}, receipts=(), cost=sf.Pure(1)),
    "processed": visits().rounded().non_negative(),
    "zcdp": visits(
        cost=sf.ZCDP("0.01", **ABOUT), budget=sf.ZCDP("0.1", **ABOUT), left=None, promise=None
    ),
    "gdp": visits(
        cost=sf.GDP("0.1", **ABOUT), budget=sf.GDP("0.5", **ABOUT), left=None, promise=None
    ),
    "renyi": visits(cost=sf.Renyi({2: 1, 8: 2}, **ABOUT), budget=None, left=None, promise=None),
    "together": visits(cost=sf.Pure(1, **ABOUT) + sf.GDP(1, **ABOUT), budget=None, left=None),
    "merged": merge([counted([1]), counted([2], receipts=(Paid(8, "cd" * 32, "2026-09-02"),))]),
    "row": counted([1], facts={"unit": "row", "relation": "replace"}),
}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("about", [{}, FULL], ids=["alone", "full"])
def test_it_fits_its_schema(name: str, about: dict[str, Any]) -> None:
    card = GIVEN[name].card(**about)
    assert list(problems(card.to_dict(), card_schema())) == []
    assert json.loads(card.to_json()) == card.to_dict()


def changes() -> dict[str, Any]:
    def change(*path: Any, value: Any = None) -> Any:
        def apply(card: dict[str, Any]) -> None:
            inner: Any = card
            for step in path[:-1]:
                inner = inner[step]
            if value is None:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value

        return apply

    return {
        "no unit": change("release", "unit"),
        "a path": change("release", "path", value="x"),
        "no receipts": change("release", "receipts"),
        "another version": change("version", value=2),
        "a variant nobody knows": change("deployment", "dp_variant", "variant_name", value="ε-ish"),
        "a float step": change("release", "pieces", 0, "step", value=0.5),
        "a kind nobody knows": change("release", "columns", 0, "kind", value="mode"),
        "a date": change("deployment", "basic", "publication_date", value="1/9/2026"),
        "no parameters": change("deployment", "privacy_loss", "privacy_parameters"),
        "a negative epsilon": change(
            "deployment", "privacy_loss", "privacy_parameters", "epsilon", value=-1.0
        ),
        "a text for a number": change(
            "deployment", "privacy_loss", "privacy_parameters", "epsilon", value="0.3"
        ),
    }


@pytest.mark.parametrize("name", changes())
def test_the_schema_sees_what_does_not_fit(name: str) -> None:
    card = copy.deepcopy(visits().card().to_dict())
    changes()[name](card)
    assert list(problems(card, card_schema()))


def test_the_kinds_of_the_schema_are_those_that_exist() -> None:
    columns = card_schema()["properties"]["release"]["properties"]["columns"]["items"]["properties"]
    assert set(columns["kind"]["enum"]) == set(KINDS)
    variants = card_schema()["properties"]["deployment"]["properties"]["dp_variant"]["properties"][
        "variant_name"
    ]["enum"]
    assert set(variants) == {kind.registry_name for kind in NOTIONS.values()}


def test_what_is_on_it() -> None:
    card = visits().card(**FULL).to_dict()
    basic, loss, release = (
        card["deployment"]["basic"],
        card["deployment"]["privacy_loss"],
        card["release"],
    )
    assert basic["name"] == "Visits by city"
    assert basic["publication_date"] == "2026-09-01"
    assert [c["data_curator_name"] for c in basic["data_curators"]] == ["City of Bari", "Region"]
    assert loss["privacy_unit"] == "user_id"
    assert "added or removed" in loss["privacy_unit_details"]
    assert loss["privacy_parameters"] == {"epsilon": 0.3, "delta": 1e-9}
    assert card["deployment"]["dp_variant"]["variant_name"] == "Approximate DP"
    assert card["deployment"]["deployment_model"]["data_source_type"] == "Dynamic"
    assert release["receipts"] == [
        {"number": 7, "digest": "ab" * 32, "when": "2026-09-01T12:00:00.000+00:00"}
    ]
    assert release["cost"]["epsilon"] == "3/10"
    assert release["budget"]["delta"] == "1/1000000"
    assert release["versions"] == {"sfumato": "0.1.0", "duckdb": "1.5.6"}
    assert release["bounds"] == {"spend": ["0", "64"]}
    assert release["declaration"]["max_rows"] == 4
    assert release["rules"] == list(visits().rules)
    assert sf.Guarantee.from_json(json.dumps(release["cost"])) == visits().cost


def test_mechanisms_are_those_that_were_charged_or_those_of_the_pieces() -> None:
    charged = [{"kind": "Laplace", "version": 1}]
    answer = visits(facts={**visits().facts, "mechanisms": charged})
    assert answer.card().to_dict()["release"]["mechanisms"] == charged
    assert [m["kind"] for m in counted([1]).card().to_dict()["release"]["mechanisms"]] == [
        "Laplace"
    ]


def test_no_released_value_no_key_and_no_path() -> None:
    answer = counted(
        [987_654_321, 123_456_789],
        rows=(("Atlantis",), ("Lemuria",)),
        facts={"path": "secret.parquet", "dataset": "visits", "rows": 5_551_212},
    )
    extra = replace(answer, pieces=(*answer.pieces, noisy("total", [[424_242_424]])))
    text = extra.card().to_json() + str(extra.card()) + extra.card().to_html()
    for canary in (
        "987654321",
        "123456789",
        "Atlantis",
        "Lemuria",
        "secret.parquet",
        "5551212",
        "424242424",
    ):
        assert canary not in text.replace(" ", "").replace(",", "")


def test_rows_as_units_are_said_to_be_taken_as_persons() -> None:
    assert "Each row counts as a different person" in str(GIVEN["row"].card())
    assert "other rows replace them" in str(GIVEN["row"].card())


def test_another_currency_tells_the_whole_budget() -> None:
    for name in ("zcdp", "gdp"):
        assert (
            "The whole budget is ε = "
            in GIVEN[name]
            .card()
            .to_dict()["deployment"]["privacy_loss"]["privacy_parameters_details"]
        )


def test_an_entry_of_the_registry() -> None:
    entry = visits().card(**FULL).registry(slug="visits-bari-2026", authors=["somebody"])
    assert entry["url_slug"] == "visits-bari-2026"
    assert set(entry["deployment"]) == {
        "basic",
        "dp_variant",
        "privacy_loss",
        "deployment_model",
        "implementation",
        "administrative",
    }
    assert entry["deployment"]["administrative"] == {
        "status": "Draft",
        "registry_authors": ["somebody"],
        "tier": 3,
    }
    assert set(NEEDED) <= set(entry["deployment"]["basic"])
    error = refusal(lambda: visits().card().registry(slug="x", authors=["y"]), "card.registry")
    assert "data_curators, intended_use, data_product_region" in error.place
    assert (
        'curators=["Statistics Office"], intended_use="research", region="Italy"' in error.rewrite
    )
    refusal(lambda: GIVEN["bare"].card(**FULL).registry(slug="x", authors=["y"]), "card.registry")


def test_the_card_of_a_merged_answer_has_every_receipt() -> None:
    card = GIVEN["merged"].card().to_dict()
    assert [paid["number"] for paid in card["release"]["receipts"]] == [7, 8]
    assert "weighted average of 2" in card["deployment"]["implementation"]["post_processing"]
    assert card["deployment"]["basic"]["publication_date"] == "2026-09-02"


def test_numbers_are_never_below_the_truth() -> None:
    for name in ("zcdp", "gdp", "renyi", "together"):
        parameters = (
            GIVEN[name].card().to_dict()["deployment"]["privacy_loss"]["privacy_parameters"]
        )
        for key, value in parameters.items():
            if key in GIVEN[name].cost.parameters:
                assert F(repr(value)) >= GIVEN[name].cost.parameters[key]
