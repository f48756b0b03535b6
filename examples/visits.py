"""Visits to shops: declare a table, look before paying, ask, ask again for nothing, and be refused.
Small cities stay unnamed.
"""

import sfumato as sf

with sf.protect(
    sf.samples.visits(),
    name="visits",
    unit="user_id",  # all visits of one customer are protected together
    max_rows=3,  # a customer counts for three visits at most
    max_groups=1,  # and votes for one city
    bounds={"spend": (0, 50), "age": (0, 120)},
    budget=2,
) as visits:
    print(visits)

    # How exact would it be? Nothing is read, and nothing is paid.
    query = visits.group_by("city").aggregate(n=sf.count(), mean_spend=sf.mean("spend"))
    for epsilon in (0.1, 0.5):
        plan = query.plan(epsilon=epsilon)
        print(
            f"ε = {epsilon}: counts ± {plan.error()['n']:.0f}; a mean of a thousand "
            f"visits ± {plan.error()['mean_spend']:.1f}"
        )

    # Ask. The charge is recorded before the first row is read.
    answer = query.release(epsilon=0.5)
    print(answer)
    print(
        f"{len(answer.rows)} of {len(sf.samples.visits()['city'].unique())} cities are named"
    )  # these data are public: of others, nobody could say

    # The same question again is the same answer, and free.
    assert query.release(epsilon=0.5)["n"].tolist() == answer["n"].tolist()

    # Cities that are public anyway need no selection: all of them answer, and the noise is smaller.
    adults = visits.where(sf.col("age") >= 18).group_by(city=["Roma", "Milano", "Napoli"])
    print(
        adults.aggregate(people=sf.count_units(), median_spend=sf.median("spend")).release(
            epsilon=0.5
        )
    )

    # What does not fit into the budget is refused before anything is read, with a way out.
    try:
        adults.aggregate(total=sf.sum("spend")).release(epsilon=1.5)
    except sf.BudgetExceeded as refusal:
        print(refusal)
    print(f"spent {visits.spent.epsilon(1e-6):.2f} of 2")
