"""The interface of models: parameters, fitting of tables and arrays, charges, stored models,
refusals, and scikit-learn's protocol.
"""

from __future__ import annotations

import pickle
import re

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Failed, Refused
from sfumato.learn.estimator import PrivateModel
from sfumato.session.protected_table import Table

MODELS: dict[str, PrivateModel] = {
    "AdditiveClassifier": sf.learn.AdditiveClassifier(
        epsilon=2, delta=1e-7, bounds={"age": (0, 100)}
    ),
    "AdditiveRegressor": sf.learn.AdditiveRegressor(
        epsilon=2, delta=1e-7, bounds={"age": (0, 100), "spend": (0, 300)}
    ),
    "LinearRegression": sf.learn.LinearRegression(
        epsilon=2, delta=1e-7, bounds={"age": (0, 100), "spend": (0, 300)}
    ),
    "Ridge": sf.learn.Ridge(
        alpha=2, epsilon=2, delta=1e-7, bounds={"age": (0, 100), "spend": (0, 300)}
    ),
}
TARGETS = {"AdditiveClassifier": "vip"}


def visits(budget: object = None) -> Table:
    return sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        max_rows=4,
        budget=budget or sf.Approx(100, 1e-3),
    )


def target_of(name: str) -> str:
    return TARGETS.get(name, "spend")


@pytest.mark.parametrize("name", MODELS)
def test_clone_and_parameters(name: str) -> None:
    """What scikit-learn's `clone` does: build anew from the parameters, and compare identities."""
    model = MODELS[name]
    parameters = model.get_params(deep=False)
    again = type(model)(**parameters)
    for key, value in again.get_params(deep=False).items():
        assert value is parameters[key]
    assert again.set_params(epsilon=3) is again
    assert again.epsilon == 3
    with pytest.raises(Refused, match=re.escape("learn.parameter")):
        again.set_params(depth=4)
    assert not again.__sklearn_is_fitted__()
    kind = again.__sklearn_tags__().estimator_type
    assert kind == ("classifier" if "Classifier" in name else "regressor")
    assert f"{name}(" in repr(again)


@pytest.mark.parametrize("name", MODELS)
def test_a_table_is_charged_once(name: str) -> None:
    table, model = visits(), MODELS[name]
    model = type(model)(**model.get_params())
    plan = model.plan(table, target=target_of(name), features=["age"])
    assert table.spent.parameters["epsilon"] == 0
    assert "nothing is read or charged" in repr(plan)
    assert model.fit(table, target=target_of(name), features=["age"]) is model
    assert table.spent == model.guarantee
    assert model.guarantee.parameters["epsilon"] == 2
    assert model.guarantee.unit == "user_id"
    first = model.predict({"age": [20, 50, 80, None]})
    again = type(model)(**model.get_params()).fit(table, target=target_of(name), features=["age"])
    assert table.spent == model.guarantee  # the stored model
    assert again.receipt == model.receipt
    assert np.array_equal(again.predict({"age": [20, 50, 80, None]}), first)
    again.fit(table, target=target_of(name), features=["age"], fresh=True)
    assert table.spent.parameters["epsilon"] == 4
    assert again.receipt != model.receipt
    assert "user_id, add-remove" in repr(model.card)
    assert f"receipt {model.receipt.number}" in repr(model)
    assert list(model.feature_names_in_) == ["age"]
    assert model.n_features_in_ == 1


@pytest.mark.parametrize("name", MODELS)
def test_arrays(name: str) -> None:
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (3000, 2))
    is_high = X[:, 0] + random.normal(0, 0.2, 3000) > 0.5
    y = is_high if "Classifier" in name else 10 * X[:, 0]
    bounds = {0: (0, 1), 1: (0, 1)} | ({} if "Classifier" in name else {None: (0, 10)})
    ledger = sf.Ledger.open(
        None, budget=sf.Approx(50, 1e-3), dataset="study", unit="row", relation="add-remove"
    )
    model = type(MODELS[name])(epsilon=20, bounds=bounds, ledger=ledger)
    model.fit(X, y)
    assert ledger.spent.parameters["epsilon"] == 20
    assert model.guarantee.parameters["delta"] == sf.Approx(1, 1e-6).parameters["delta"]
    assert model.score(X, y) > 0.85
    assert model.predict(X[:7]).shape == (7,)
    model.fit(X, y)
    assert ledger.spent.parameters["epsilon"] == 40  # other arrays may look the same: never stored
    with pytest.raises(sf.BudgetExceeded):
        model.fit(X, y)


def test_classes_and_keys_of_arrays() -> None:
    random = np.random.default_rng(1)
    city = random.choice(["Bari", "Roma", "Pisa"], 2000)
    y = np.where(city == "Roma", "yes", "no")
    frame = pa.table({"city": city.tolist()})
    model = sf.learn.AdditiveClassifier(
        epsilon=20, keys={"city": ["Bari", "Roma"]}, classes=["no", "yes"]
    ).fit(frame, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict({"city": ["Roma", "Bari", "Pisa", None]}).tolist() == [
        "yes",
        "no",
        "no",
        "no",
    ]
    chances = model.predict_proba({"city": ["Roma", "Bari"]})
    assert np.allclose(chances.sum(axis=1), 1)
    shape = model.shape("city")
    assert shape.labels == ("Bari", "Roma", "any other")
    assert (shape.low < shape.values).all()
    assert (shape.values < shape.high).all()
    assert len(model.plot("city").axes) == 1


def test_a_band_holds_what_the_steps_give_without_noise() -> None:
    """Independent features, 12 fits, 40 values each at 95 %: that fewer than 85 % hold has a
    probability far below 10⁻⁶ by the normal law, with a margin for the approximation.
    """
    random = np.random.default_rng(2)
    X = random.uniform(0, 1, (20_000, 2))
    y = random.uniform(0, 1, 20_000) < 1 / (1 + np.exp(-4 * (X[:, 0] - 0.5)))
    edges = {i: np.linspace(0, 1, 11).tolist() for i in range(2)}
    exact = sf.learn.AdditiveClassifier(promise=sf.GDP(10_000), bounds=edges).fit(X, y)
    held = []
    for _ in range(12):
        model = sf.learn.AdditiveClassifier(promise=sf.GDP("0.4"), bounds=edges).fit(X, y)
        for name in ("x0", "x1"):
            shape, truth = model.shape(name), exact.shape(name)
            if len(shape.values) == len(truth.values):
                held.append((shape.low <= truth.values) & (truth.values <= shape.high))
    assert len(held) >= 12
    assert np.mean(held) > 0.85


@pytest.mark.parametrize(
    ("code", "settings", "options"),
    [
        ("learn.cost", {}, {}),
        ("learn.cost", {"epsilon": 1, "promise": sf.GDP(1)}, {}),
        ("learn.cost", {"promise": sf.Pure(1)}, {}),
        ("learn.cost", {"epsilon": 1, "delta": 0}, {}),
        ("learn.target", {"epsilon": 1}, {"target": "height"}),
        ("learn.features", {"epsilon": 1}, {"features": ["height"]}),
        ("learn.features", {"epsilon": 1}, {"features": []}),
        ("learn.features", {"epsilon": 1}, {"features": ["age", "vip"]}),
        ("learn.bounds", {"epsilon": 1}, {"features": ["age"]}),
        ("learn.bounds", {"epsilon": 1}, {"features": ["city"]}),
        ("learn.bounds", {"epsilon": 1, "bounds": {"age": (9, 3)}}, {}),
        ("learn.bounds", {"epsilon": 1, "bounds": {"age": 9}}, {}),
        ("learn.bounds", {"epsilon": 1, "bounds": {"age": (0, 9), "spend": (0, 9)}}, {}),
        ("learn.classes", {"epsilon": 1}, {"target": "spend"}),
        ("learn.classes", {"epsilon": 1, "classes": ["a", "b", "c"]}, {"target": "city"}),
        ("learn.option", {"epsilon": 1, "steps": 0}, {}),
    ],
)
def test_refusals_come_before_the_charge(
    code: str, settings: dict[str, object], options: dict[str, object]
) -> None:
    table = visits()
    bounds = {"bounds": {"age": (0, 100)}} if code != "learn.bounds" else {}
    model = sf.learn.AdditiveClassifier(**{**bounds, **settings})
    with pytest.raises(Refused) as refused:
        model.fit(table, **{"target": "vip", "features": ["age"], **options})
    assert refused.value.code == code
    assert table.spent.parameters["epsilon"] == 0


def test_other_refusals() -> None:
    model = sf.learn.AdditiveClassifier(epsilon=1, bounds={0: (0, 1)})
    for call in (lambda: model.predict([[1]]), lambda: model.card, lambda: repr(model.receipt)):
        with pytest.raises(Refused, match=re.escape("learn.fitted")):
            call()
    with pytest.raises(Refused, match=re.escape("learn.table")):
        model.fit(pa.table({"a": [1]}), target="a", features=["a"])
    with pytest.raises(Refused, match=re.escape("learn.arrays")):
        model.fit(np.zeros((3, 1)), [True, False])
    with pytest.raises(Refused, match=re.escape("learn.columns")):
        model.fit(np.zeros(3), [True, False, True])
    with pytest.raises(Refused, match=re.escape("learn.bounds")):  # never from the data
        sf.learn.AdditiveClassifier(epsilon=1).fit(np.zeros((3, 1)), [True, False, True])
    with pytest.raises(Refused, match=re.escape("learn.classes")):
        model.fit(np.zeros((3, 1)), [0, 1, 0])
    model.fit(np.zeros((3, 1)), [True, False, True])
    with pytest.raises(Refused, match=re.escape("learn.columns")):
        model.predict(np.zeros((3, 2)))
    with pytest.raises(Refused, match=re.escape("learn.columns")):
        model.predict({"age": [1]})
    linear = sf.learn.LinearRegression(epsilon=1, bounds={"age": (0, 100)})
    with pytest.raises(Refused, match=re.escape("learn.features")):
        linear.fit(visits(), target="age", features=["city"])


@pytest.mark.parametrize("name", MODELS)
def test_a_fitted_model_can_be_pickled_and_holds_no_row(name: str) -> None:
    random = np.random.default_rng(8)
    X = random.uniform(0, 1, (500, 2))
    y = X[:, 0] > 0.5 if "Classifier" in name else X[:, 0]
    model = type(MODELS[name])(epsilon=5, bounds=(0, 1))  # one pair for all columns
    assert not hasattr(model, "n_features_in_")
    model.fit(X, y)
    stored = pickle.dumps(model)
    assert not any(value.tobytes() in stored for value in X[:, 0])
    assert np.array_equal(pickle.loads(stored).predict(X), model.predict(X))


@pytest.mark.parametrize(
    "y",
    [
        np.zeros((3, 2)),
        np.zeros(3, dtype=complex),
        [object(), 1, 2],
        [{"secret": 1}, 3.5, "secret"],
    ],
)
def test_arrays_that_cannot_be_read_are_not_quoted(y: object) -> None:
    model = sf.learn.AdditiveRegressor(epsilon=1, bounds=(0, 1))
    with pytest.raises(Refused) as refused:
        model.fit(np.zeros((3, 1)), y)
    assert refused.value.code == "learn.arrays"
    assert "secret" not in str(refused.value)


def test_a_broken_engine_says_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    table = visits()
    model = sf.learn.AdditiveClassifier(epsilon=1, bounds={"age": (0, 100)})
    plan = model.plan(table, target="vip", features=["age"])

    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError("row of a person")

    monkeypatch.setattr(type(plan.source.engine), "run", breaks)
    with pytest.raises(Failed) as failed:
        model.fit(table, target="vip", features=["age"])
    assert str(failed.value) == Failed.TEXT
    assert table.spent.parameters["epsilon"] == 1


def test_other_notions_of_budget() -> None:
    for budget, promise in ((sf.GDP(3), sf.GDP(1)), (sf.ZCDP(3), sf.ZCDP(1))):
        table = visits(budget)
        model = sf.learn.AdditiveClassifier(promise=promise, bounds={"age": (0, 100)})
        model.fit(table, target="vip", features=["age"])
        assert table.spent <= budget
    with pytest.raises(Refused):
        sf.learn.AdditiveClassifier(epsilon=1, bounds={"age": (0, 100)}).fit(
            visits(sf.Pure(3)), target="vip", features=["age"]
        )


def test_conditions_and_long_lists_of_keys() -> None:
    """Rows are chosen before they are weighed; a long list of keys is joined."""
    table = visits()
    adults = table.where("age >= 18").mutate(decade=sf.col("age") // 10)
    model = sf.learn.AdditiveClassifier(
        epsilon=5, delta=1e-7, keys={"decade": range(100), "city": ["Bari", "Roma"]}
    )
    model.fit(adults, target="vip", features=["decade", "city"])
    assert model.shape("decade").counts.sum() > 0
    assert model.predict({"decade": [3, 999], "city": ["Roma", None]}).shape == (2,)
