"""Every mechanism and every oracle carries what audits, accountants and ledgers ask of it; one that
is defined in a test alone is audited, accounted for and stored with no list edited.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato import local
from sfumato import mechanisms as mech
from sfumato.accounting.loss.pair_of_mechanism import pair_of, pairs_of
from sfumato.accounting.loss.pairs_finite import FinitePair
from sfumato.auditing.catalogue import CATALOGUE
from sfumato.auditing.mechanism_laws import law_pair_at
from sfumato.auditing.runners import law_pair_of, runner_of
from sfumato.auditing.survey import audit_entry
from sfumato.errors import Refused
from sfumato.exact.balls import above, ball
from sfumato.exact.numbers import probability
from sfumato.guarantees import Guarantee, Pure
from sfumato.local.restore_question import ORACLES
from sfumato.mechanisms.shared.mechanism import InputPair, Mechanism
from sfumato.mechanisms.shared.stored_mechanism import promises, record, restore
from sfumato.mechanisms.stated.audit_example import AuditExample
from sfumato.mechanisms.stated.stated_laws import FiniteLaws
from sfumato.noise.bernoulli import Bernoulli
from sfumato.noise.bits import SYSTEM, Bits

KINDS = (*mech.MECHANISMS, *ORACLES)


def missing_knowledge(kind: type[Mechanism]) -> list[str]:
    """List what a kind does not know of itself and does not give a reason for."""
    examples = kind.audit_examples()
    if not examples:
        return ["audit examples"]
    missing = []
    built = [example.build(1.0) for example in examples]
    pairs = [example.pairs(m) for example, m in zip(examples, built, strict=True)]
    if any(len(some) < 5 for some in pairs):
        missing.append("five pairs")
    if any(type(m) is not kind for m in built):
        missing.append("examples of its own")
    has_law = any(
        law_pair_of(runner_of(m), pair) is not None
        for m, some in zip(built, pairs, strict=True)
        for pair in some
    )
    if has_law == bool(_reason(kind, "why_no_law", "output_laws")):
        missing.append("a law or the reason why there is none")
    if ("loss_pair" in vars(kind)) == bool(_reason(kind, "why_no_loss_pair", "loss_pair")):
        missing.append("an accounting pair or the reason why there is none")
    if any((_restored(m) == m) == bool(kind.why_not_restored) for m in built):
        missing.append("a stored form that restores or the reason why it does not")
    return missing


def _reason(kind: type[Mechanism], name: str, method: str) -> str:
    """The reason that holds for the kind: of the class that states it, unless one that derives from
    that states the method.
    """
    first = next(base for base in kind.__mro__ if name in vars(base) or method in vars(base))
    return str(vars(first).get(name, ""))


def _restored(m: Mechanism) -> Mechanism | None:
    return restore(json.loads(json.dumps(record(m))), type(m))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_knows_itself(kind: type[Mechanism]) -> None:
    assert missing_knowledge(kind) == []


@pytest.mark.parametrize(("package", "listed"), [(mech, mech.MECHANISMS), (local, ORACLES)])
def test_every_public_kind_is_listed(package: Any, listed: tuple[type, ...]) -> None:
    kinds = [
        kind
        for kind in vars(package).values()
        if isinstance(kind, type) and issubclass(kind, Mechanism) and not inspect.isabstract(kind)
    ]
    assert set(kinds) == set(listed)
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda kind: kind.__name__)
def test_an_oracle_is_restored_by_its_question(oracle: type[local.Oracle]) -> None:
    for example in oracle.audit_examples():
        m = example.build(1.0)
        assert isinstance(m, local.Oracle)
        assert local.restore(json.loads(json.dumps(m.question))) == m


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_the_accountant_has_pairs_for_everything_but_zcdp(entry: AuditExample) -> None:
    m = entry.build(1.0)
    if isinstance(m, mech.DiscreteGaussian):
        with pytest.raises(Refused, match=r"loss\.no-pair"):
            pairs_of(m)
    else:
        assert pairs_of(m)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Whisper(Mechanism):
    """Says a secret bit truthfully with a given probability, and says nothing with probability
    1/10.
    """

    keep: Fraction
    relation: None = None
    unit: None = None

    def __init__(self, *, keep: Any) -> None:
        object.__setattr__(self, "keep", probability(keep, "keep", zero=False))
        object.__setattr__(self, "relation", None)
        object.__setattr__(self, "unit", None)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(above(lambda: ball(self.keep / (1 - self.keep)).log())),)

    def perturb(self, bit: int, *, bits: Bits = SYSTEM) -> int | None:
        if Bernoulli(p=Fraction(1, 10)).draw(bits):
            return None
        return bit if Bernoulli(p=self.keep).draw(bits) else 1 - bit

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> Whisper:
            odds = Fraction(2.718281828) ** int(epsilon)
            return cls(keep=odds / (1 + odds))

        return [AuditExample("Whisper", build, at_once=False)]

    def audit_pairs(self) -> list[InputPair]:
        return [(0, 1)] * 5

    def output_laws(self, x: int, y: int) -> FiniteLaws:
        return FiniteLaws.between(self._law(x), self._law(y))

    def loss_pair(self) -> FiniteLaws:
        return self.output_laws(0, 1)

    def scale_noise(self, factor: Fraction) -> Whisper:
        odds = self.keep / (1 - self.keep) / factor
        return Whisper(keep=odds / (1 + odds))

    def _law(self, bit: int) -> dict[int | None, Fraction]:
        spoken = Fraction(9, 10)
        return {bit: self.keep * spoken, 1 - bit: (1 - self.keep) * spoken, None: 1 - spoken}


WHISPER = Whisper(keep="3/4")


def test_a_kind_of_a_test_knows_itself() -> None:
    assert missing_knowledge(Whisper) == []


def test_a_kind_of_a_test_is_audited() -> None:
    exact = sf.audit(WHISPER, exact=True)
    assert exact.verdict == "holds"
    assert exact.epsilon_lower == pytest.approx(float(WHISPER.promise.parameters["epsilon"]))
    assert sf.audit(WHISPER, samples=4000).verdict == "holds"
    assert sf.audit(WHISPER, claim=Pure("1/2"), exact=True).verdict == "violated"
    (example,) = Whisper.audit_examples()
    row = audit_entry(example, 1.0, samples=200, confidence=0.999999, exact=True)
    assert (row.name, row.exact, row.verdict) == ("Whisper", True, "holds")


def test_a_kind_of_a_test_is_accounted_for() -> None:
    shares = [Fraction(9, 10) * share for share in (Fraction(3, 4), Fraction(1, 4))]
    silent = Fraction(1, 10)
    assert pair_of(WHISPER) == FinitePair((*shares, silent), (*reversed(shares), silent))
    thrice = sf.compose([(WHISPER, 3)])
    assert thrice.delta(0) < sf.compose([(WHISPER.promise, 3)]).delta(0)
    louder = sf.calibrate([(WHISPER, 3)], sf.Approx(2, "1e-3"))
    assert all(isinstance(m, Whisper) for m, _ in louder.schedule)
    assert louder.total <= sf.Approx(2, "1e-3")


def test_a_kind_of_a_test_is_stored_and_restored() -> None:
    stored = json.loads(json.dumps(record(WHISPER)))
    assert restore(stored, Whisper) == WHISPER
    assert restore(stored) is None  # nobody searches a class by a name that is stored
    assert promises(stored) == WHISPER.promises


class Careless(Whisper):
    """Derives from a kind and states nothing: draws otherwise, and promises less."""

    __slots__ = ()

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(9),)

    def perturb(self, bit: int, *, bits: Bits = SYSTEM) -> int | None:
        return bit


def test_what_a_kind_inherits_is_not_believed() -> None:
    """The twin of the tests above."""
    careless = Careless(keep="3/4")
    assert law_pair_at(careless, 0, 1) is None
    assert pair_of(careless) == pair_of(Recorded())
    with pytest.raises(Refused, match=r"calibrate\.mechanism"):
        sf.calibrate([careless], sf.Approx(1, "1e-6"))
    assert sf.audit(careless, 0, 1, claim=Pure(1), samples=400).verdict == "violated"


class Recorded(Mechanism):
    """States nothing but a promise."""

    relation = None
    unit = None

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(9),)


def test_a_kind_that_forgets_is_seen() -> None:
    assert missing_knowledge(Recorded) == ["audit examples"]
    assert missing_knowledge(Careless) == [
        "a law or the reason why there is none",
        "an accounting pair or the reason why there is none",
    ]
