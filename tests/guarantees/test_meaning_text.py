"""The sentences, as they are read."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sfumato as sf

from .test_promise_meaning import NOTIONS, RANDOM

OF_ONE = (
    (
        "Suppose somebody is 50 % confident, before the answer, that a certain thing is true "
        "of your data. "
        "After the answer their confidence is between 26.8 % and 73.2 %, whatever the answer is."
    ),
    "In other words, no answer multiplies or divides their odds by more than 2.72.",
    (
        "This holds against anyone who knows everybody else's data, and against anyone who "
        "believes that other people's data say nothing about you. "
        "If they do say something, more can be learned: twins who always answer alike count "
        "as two."
    ),
    (
        "If they have to guess, they are right with a chance of at most 73.2 %; without the "
        "answer it is 50 %."
    ),
    (
        "A detective who decides from the answer whether it is true catches at most 2.72 % of "
        "the true cases at 1 % false alarms, 13.6 % at 5 %, 27.2 % at 10 %."
    ),
    (
        "Waiting for a lucky answer does not help: whatever happens, the two error rates "
        "still add up to 53.7 % or more."
    ),
    (
        "Something bad that would follow from the answer with a chance of 1 % if your data "
        "were different has a chance of at most 2.72 %."
    ),
    (
        "On average over answers, the logarithm of the odds on the truth rises by at most "
        "0.463; a single answer may say more."
    ),
    (
        "Answers add up. 7 answers like this still exclude an attacker who is wrong at most "
        "5 % of the time either way; 8 may not."
    ),
    (
        "If somebody asks for the same count 29 times at this ε, the mean of the answers, "
        "rounded, is the exact count with 95 % certainty."
    ),
)


def test_of_epsilon_one() -> None:
    m = sf.Pure(1, relation="replace").meaning(prior=0.5)
    assert m.sentences() == OF_ONE
    assert str(m) == "\n".join(OF_ONE)


@pytest.mark.parametrize("guarantee", [*NOTIONS, RANDOM], ids=lambda g: repr(g)[:50])
def test_every_notion_has_whole_sentences(guarantee: sf.Guarantee) -> None:
    for sentence in guarantee.meaning(prior="1e-3").sentences():
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith(".")
        assert not {"None", "nan", "inf", "Fraction", "  "} & set(
            sentence.replace("inf ", " ").split(" ")
        ) - {""}


def test_relation_and_unit_say_whom_it_is_about() -> None:
    there = sf.Pure(1, relation="add-remove", unit="patient").meaning().sentences()
    assert "that one patient is in the data at all" in there[0]
    assert any("under('replace')" in sentence for sentence in there)
    assert any("if one patient were not in the data" in sentence for sentence in there)
    value = sf.Pure(1, relation="replace", unit="patient").meaning().sentences()
    assert "is true of one patient's data" in value[0]
    assert any("left open" in sentence for sentence in sf.Pure(1).meaning().sentences())
    assert not any("left open" in sentence for sentence in there + value)


def test_exceptions_are_stated_with_their_probability() -> None:
    sentences = sf.Approx(1, "1e-6").meaning().sentences()
    assert sentences[1].startswith(
        "Except with a chance of 1 %, their confidence is between 26.8 % and 73.2 % after the"
    )
    assert sentences[2].startswith("Except with a chance of 0.01 %")
    assert (
        sentences[3]
        == "With a chance of up to 1 in 1 000 000 (this is δ) the answer may give everything away."
    )
    assert not any("whatever the answer" in sentence for sentence in sentences)


def test_a_large_epsilon_is_called_what_it_is() -> None:
    sentences = sf.Pure(50).meaning().sentences()
    assert sentences[-1] == "This is hardly a protection: an attacker may be right nearly always."
    assert "This single answer already does not exclude" in sentences[-3]
    assert "hardly" not in str(sf.Pure(1).meaning())


def test_nothing_learned() -> None:
    assert sf.Pure(0).meaning().sentences()[-1] == (
        "The answer depends on nobody's data, or hardly: it may be repeated any number of times."
    )


def test_one_answer_only() -> None:
    assert "One answer like this still excludes" in str(sf.Pure("2.5").meaning())


def test_random() -> None:
    sentences = RANDOM.meaning().sentences()
    assert sentences[0].startswith("This is no promise to any particular person.")
    assert "5 %" in sentences[1]


def test_a_chance_that_is_not_known_gives_no_sentence() -> None:
    m = sf.Pure(1).meaning()
    without = replace(m, right_guess=None).sentences()
    (about,) = set(m.sentences()) - set(without)
    assert "If they have to guess" in about
    assert [line for line in m.sentences() if line != about] == list(without)
