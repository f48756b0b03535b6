"""The refusals of `local`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

LOCAL_ALPHABET_1 = RefusalText(
    "local.alphabet",
    "alphabet=…",
    "an alphabet is a text of printable letters, each of them once",
    "alphabet='abc'",
)
LOCAL_BITS_1 = RefusalText(
    "local.bits",
    "p={p}, q={q}",
    "q must exceed p: a remembered 1 is reported as 1 more often than a remembered 0",
    "p=0.5, q=0.75",
)
LOCAL_BLOOM_1 = RefusalText(
    "local.bloom",
    "{oracle}",
    "two values have the same bits in every cohort",
    "more cohorts=, or a larger size=",
)
LOCAL_BOUNDS_1 = RefusalText(
    "local.bounds",
    "low={low}, high={high}",
    "low must be below high",
    "low=0, high=100",
)
LOCAL_CATEGORIES_1 = RefusalText(
    "local.categories",
    "best(…)",
    "give the number of categories or the categories themselves",
    "best(epsilon=1, k=100, n=1_000_000)",
)
LOCAL_CATEGORIES_2 = RefusalText(
    "local.categories",
    "k={k}",
    "k is a whole number of at least 2",
    "k=100",
)
LOCAL_CATEGORIES_3 = RefusalText(
    "local.categories",
    "categories",
    "a question is JSON: categories are texts, whole numbers or truth values",
    "categories=['yes', 'no']",
)
LOCAL_CONSISTENCY_1 = RefusalText(
    "local.consistency",
    "method={method!r}",
    "the method is unknown",
    "one of {CONSISTENT}",
)
LOCAL_EDGES_1 = RefusalText(
    "local.edges",
    "Ordinal(…)",
    "give either edges= or ordered categories=",
    "edges=range(0, 101, 10)",
)
LOCAL_EDGES_2 = RefusalText(
    "local.edges",
    "{cuts_count} edges",
    "edges= needs at least three numbers in rising order",
    "edges=range(0, 101, 10)",
)
LOCAL_EPSILON_1 = RefusalText(
    "local.epsilon",
    "{place}, epsilon={epsilon}",
    "ε is too small: with probabilities of 64 bits a report would tell nothing",
    "epsilon=0.1",
)
LOCAL_EPSILON_2 = RefusalText(
    "local.epsilon",
    "{place}, epsilon={epsilon}",
    "these probabilities tell more than ε allows",
    "epsilon= without probabilities",
)
LOCAL_GRID_1 = RefusalText(
    "local.grid",
    "grid={grid}",
    "the grid needs 1 to {most} steps from low to high, not too far from 0",
    "leave grid= out",
)
LOCAL_PANEL_1 = RefusalText(
    "local.panel",
    "aggregate(…)",
    "a panel has no single count",
    "waves_of(reports), and panel.oracle.aggregate for each wave",
)
LOCAL_PANEL_2 = RefusalText(
    "local.panel",
    "Panel({type})",
    "{reason}",
    "Panel(Direct(epsilon=1, categories=['yes', 'no']), waves=12)",
)
LOCAL_PANEL_3 = RefusalText(
    "local.panel",
    "waves={waves}, reports={reports}",
    "{reason}",
    "waves=12, reports=1",
)
LOCAL_PANEL_4 = RefusalText(
    "local.panel",
    "values",
    "values has a row for each person and a column for each of the {waves} waves",
    "perturb(table), with a column for each wave",
)
LOCAL_QUESTION_1 = RefusalText(
    "local.question",
    "{place}",
    "its numbers differ from those of the oracle that it names",
    "oracle.question, unchanged",
)
LOCAL_QUESTION_2 = RefusalText(
    "local.question",
    "{place}",
    "this version does not know such a question",
    "oracle.question",
)
LOCAL_REPORT_1 = RefusalText(
    "local.report",
    "aggregate + aggregate",
    "they count reports to different questions",
    "oracle.aggregate(reports) of one oracle",
)
LOCAL_REPORT_2 = RefusalText(
    "local.report",
    "{reports}",
    "these reports answer a different question",
    "the oracle that made them, or one restored from its question",
)
LOCAL_REPORT_3 = RefusalText(
    "local.report",
    "report {first}",
    "no client of this question sends such a report",
    "read(reports, drop=True)",
)
LOCAL_REPORT_4 = RefusalText(
    "local.report",
    "{reports}",
    "these reports answered a different question",
    "the oracle that counted them",
)
LOCAL_REPORT_5 = RefusalText(
    "local.report",
    "{reports}",
    "the search needs the reports themselves, not an aggregate",
    "estimate(reports)",
)
LOCAL_REPORT_6 = RefusalText(
    "local.report",
    "reports + reports",
    "they answer different questions",
    "oracle.estimate of each",
)
LOCAL_REPORT_7 = RefusalText(
    "local.report",
    "a file of reports",
    "it does not begin like a file of version {VERSION}",
    "Reports.to_bytes()",
)
LOCAL_REPORT_8 = RefusalText(
    "local.report",
    "a file of reports",
    "they answer a different question",
    "the oracle whose question they answer",
)
LOCAL_REPORT_9 = RefusalText(
    "local.report",
    "a file of reports",
    "its length does not match {count} reports of {width} bytes",
    "the whole file",
)
LOCAL_SEVERAL_1 = RefusalText(
    "local.several",
    "aggregate(…)",
    "a questionnaire has no single count",
    "parts_of(reports), and aggregate each part",
)
LOCAL_SEVERAL_2 = RefusalText(
    "local.several",
    "how={how!r}",
    "how= is 'sample' (one question by lot) or 'split' (all questions)",
    "how='sample'",
)
LOCAL_SEVERAL_3 = RefusalText(
    "local.several",
    "{oracles_count} parts",
    (
        "a questionnaire has at least two questions, and none of them is a questionnaire, a "
        "prefix tree, or a question that needs a memory"
    ),
    (
        "Questionnaire({{'age': OneBit(epsilon=1, low=0, high=100), 'smokes': Direct(epsilon=1, "
        "categories=['yes', 'no'])}})"
    ),
)
LOCAL_SEVERAL_4 = RefusalText(
    "local.several",
    "epsilon={epsilon}",
    "ε follows from the parts: their sum if split, the largest if sampled",
    "leave epsilon= out",
)
LOCAL_SEVERAL_5 = RefusalText(
    "local.several",
    "values",
    "columns have different lengths: each person has one value per column",
    "perturb({{'age': ages, 'city': cities}})",
)
LOCAL_SEVERAL_6 = RefusalText(
    "local.several",
    "values",
    "values needs a column for each name",
    "perturb({{'age': ages, 'city': cities}})",
)
LOCAL_SIZE_1 = RefusalText(
    "local.size",
    "max_bytes={max_bytes}",
    "the report of every oracle is longer",
    "max_bytes=16",
)
LOCAL_SIZE_2 = RefusalText(
    "local.size",
    "buckets={buckets}",
    "buckets is a whole number from 2 to {MOST_BUCKETS}",
    "leave buckets= out: the best is chosen",
)
LOCAL_SIZE_3 = RefusalText(
    "local.size",
    "{k} buckets, window={window}",
    "at most {MOST} buckets, and a window of at most {MOST}",
    "leave window= out",
)
LOCAL_SIZE_4 = RefusalText(
    "local.size",
    "length={length}, step={step}, most={most}",
    "length is a multiple of step up to 256, and most·(letters + 1)^step is at most 2^20",
    "length=8, step=1, most=32",
)
LOCAL_SIZE_5 = RefusalText(
    "local.size",
    "hashes={hashes}, size={size}, cohorts={cohorts}",
    (
        "a Bloom filter has 1 to 16 hashes, 2 to 4096 bits and 1 to 4096 cohorts; without one, "
        "hashes and size are left out"
    ),
    "hashes=2, size=128, cohorts=32",
)
LOCAL_SIZE_6 = RefusalText(
    "local.size",
    "size={size}, optimised={optimised}",
    "a Hadamard sketch needs a size that is a power of two, and is not optimised",
    "size=1024, hadamard=True",
)
LOCAL_SIZE_7 = RefusalText(
    "local.size",
    "{name}={value}",
    "{name} is a whole number from {least} to {most}",
    "{name}=1024",
)
LOCAL_SIZE_8 = RefusalText(
    "local.size",
    "size={size}",
    "a set holds 1 to {value} of the {k} categories",
    "leave size= out: the best is chosen",
)
RESPONSE_INTERVAL_1 = RefusalText(
    "response.interval",
    "method={method!r}",
    "the method is unknown",
    "method='bernstein' or method='normal'",
)
RESPONSE_INTERVAL_2 = RefusalText(
    "response.interval",
    "method={method!r}",
    "the method is unknown",
    "one of {METHODS}",
)
RESPONSE_INTERVAL_3 = RefusalText(
    "response.interval",
    "method={method!r}",
    "the method is unknown, or exact for reports of more than one bit",
    "method='bounded' or method='normal'",
)
RESPONSE_INTERVAL_4 = RefusalText(
    "response.interval",
    "of={of!r}",
    "of= is 'cumulative' or 'frequencies'",
    "of='cumulative'",
)
RESPONSE_REPORTS_1 = RefusalText(
    "response.reports",
    "n={n}",
    "the number of reports is a whole number of at least 1",
    "n=1000",
)
RESPONSE_REPORTS_2 = RefusalText(
    "response.reports",
    "estimate([])",
    "there is no report to estimate from",
    "estimate(oracle.perturb(values))",
)
SHUFFLE_LOCAL_1 = RefusalText(
    "shuffle.local",
    "local={local}",
    "the theorem is about reports that keep a pure ε each",
    "local=sf.Pure(1)",
)
SHUFFLE_LOCAL_2 = RefusalText(
    "shuffle.local",
    "local={local}",
    "shuffling protects against replacing a report, not adding one",
    "local=sf.Pure(1)",
)
