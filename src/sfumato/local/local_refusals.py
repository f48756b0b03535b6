"""The refusals of `local`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# ε and the promise

EPSILON_TOO_SMALL = RefusalText(
    "local.epsilon",
    "{oracle}, epsilon={epsilon}",
    "ε is too small: with probabilities of 64 bits a report would tell nothing",
    "epsilon=0.1",
)
PROBABILITIES_BREAK_PROMISE = RefusalText(
    "local.epsilon",
    "{oracle}, epsilon={epsilon}",
    "the probabilities of a report differ by more than the factor e^ε",
    "epsilon=1",
)
LOCAL_PROMISE_NOT_PURE = RefusalText(
    "shuffle.local",
    "local={local}",
    "the shuffle theorem needs a pure ε for every report",
    "local=sf.Pure(1)",
)
LOCAL_PROMISE_ADD_REMOVE = RefusalText(
    "shuffle.local",
    "local={local}",
    "shuffling protects against replacing a report, not adding one",
    "local=sf.Pure(1)",
)

# The mixer

NO_REPORTS_TO_MIX = RefusalText(
    "shuffle.reports",
    "reports",
    "a mixer passes the bytes of reports, and nothing else that came with them",
    "sf.local.shuffle([report for sender, report in arrived])",
)
REPORT_TO_OTHER_QUESTION_IN_BATCH = RefusalText(
    "shuffle.reports",
    "report {number}",
    "it answers another question than the first, or is of another length: in one batch it would "
    "be told apart",
    "oracle.read(reports, drop=True)",
)
BATCH_TOO_SMALL = RefusalText(
    "shuffle.least",
    "{count} reports",
    "a batch of fewer than {least} hides each report less than was promised",
    "the batch again, when more reports have come in",
)
LEAST_BATCH_NOT_WHOLE = RefusalText(
    "shuffle.least",
    "least={least}",
    "the least size of a batch is a whole number from 1 on",
    "least=1000",
)

# Estimates

NOTHING_TO_PLOT = RefusalText(
    "local.plot",
    "plot()",
    "nothing stands out of the noise of {reports} reports: there is nothing to draw",
    "more reports, or a larger epsilon=",
)
ERROR_OUT_OF_REACH = RefusalText(
    "local.error",
    "reports_needed({error})",
    "{most:,} reports are not enough; where all people share hash functions, an error stays",
    "a larger error, or a larger epsilon=",
)

# Categories and ranges

CATEGORIES_OR_COUNT = RefusalText(
    "local.categories",
    "best(…)",
    "give either the number of categories, k=, or the categories themselves",
    "best(epsilon=1, k=100, n=1_000_000)",
)
TOO_FEW_CATEGORIES = RefusalText(
    "local.categories",
    "k={k}",
    "k is a whole number of at least 2",
    "k=100",
)
CATEGORIES_NOT_JSON = RefusalText(
    "local.categories",
    "categories",
    "a question is JSON: categories are texts, whole numbers or truth values",
    "categories=['yes', 'no']",
)
EDGES_OR_CATEGORIES = RefusalText(
    "local.edges",
    "Ordinal(…)",
    "give either edges= or ordered categories=",
    "edges=range(0, 101, 10)",
)
EDGES_NOT_RISING = RefusalText(
    "local.edges",
    "{count} edges",
    "edges= needs at least three numbers in rising order",
    "edges=range(0, 101, 10)",
)
LOW_NOT_BELOW_HIGH = RefusalText(
    "local.bounds",
    "low={low}, high={high}",
    "low must be below high",
    "low=0, high=100",
)
GRID_OUT_OF_RANGE = RefusalText(
    "local.grid",
    "grid={grid}",
    "the grid needs 1 to {most} steps from low to high, not too far from 0",
    "grid=None",
)
ALPHABET_NOT_LETTERS = RefusalText(
    "local.alphabet",
    "alphabet={alphabet!r:.40}",
    "an alphabet is a text of printable letters, each of them once",
    "alphabet='abc'",
)

# Sizes of an oracle. None lets the oracle choose the best size.

SIZE_OUT_OF_RANGE = RefusalText(
    "local.size",
    "{name}={value}",
    "{name} is a whole number from {least} to {most}",
    "{name}=1024",
)
HASH_BUCKETS_OUT_OF_RANGE = RefusalText(
    "local.size",
    "buckets={buckets}",
    "buckets is a whole number from 2 to {most}",
    "buckets=None",
)
SUBSET_OUT_OF_RANGE = RefusalText(
    "local.size",
    "size={size}",
    "a set holds 1 to {most} of the {categories} categories",
    "size=None",
)
TOO_MANY_ORDINAL_BUCKETS = RefusalText(
    "local.size",
    "{buckets} buckets",
    "an ordinal question has at most {most} buckets",
    "edges=range(0, 101, 10)",
)
WINDOW_OUT_OF_RANGE = RefusalText(
    "local.size",
    "window={window}",
    "a window is a whole number from 1 to {most}",
    "window=None",
)
PREFIX_TREE_TOO_LARGE = RefusalText(
    "local.size",
    "length={length}, step={step}, most={most}",
    "length is a multiple of step up to 256, and most·(letters + 1)^step is at most 2^20",
    "length=8, step=1, most=32",
)
PUZZLE_TOO_LARGE = RefusalText(
    "local.size",
    "length={length}, most={most}",
    "length is a number of bytes from 1 to 64, and most a number of texts from 1 to 4096",
    "length=12, most=64",
)
DAYS_OUT_OF_RANGE = RefusalText(
    "local.store",
    "ReportStore(…, days={days})",
    "reports are kept for a whole number of days from 1 to {most}",
    "days=90",
)
STORE_UNUSABLE = RefusalText(
    "local.store",
    "{path}",
    "reports cannot be kept in this file: {why}",
    "a file on a local disk, which a store wrote or which does not exist yet",
)
GRAMS_OUT_OF_RANGE = RefusalText(
    "local.size",
    "length={length}, gram={gram}",
    "length is a multiple of gram up to 64, with fewer places than cohorts; texts need hashes",
    "hashes=2, size=16, cohorts=64, length=6, gram=2",
)
NOTHING_TO_DISCOVER = RefusalText(
    "local.decode",
    "an alphabet of {letters} letters, gram={gram}",
    "without a list of texts reports have to be about few letters each, of a small alphabet",
    "OpenRappor(f='1/2', length=6, gram=2)",
)
TOO_MANY_TEXTS = RefusalText(
    "local.decode",
    "discover()",
    "the letters that stand out of the noise join to more than {most:,} texts",
    "fdr=0.001",
)
CANDIDATES_OUT_OF_RANGE = RefusalText(
    "local.decode",
    "{count} candidates",
    "a decoder needs from 1 to {most:,} candidates",
    "oracle.decode(reports, ['first.example', 'second.example'])",
)
CANDIDATES_MISSING = RefusalText(
    "local.decode",
    "OpenRappor.estimate()",
    "frequencies are those of candidates, which the reports alone do not name",
    "oracle.decode(reports, ['first.example', 'second.example'])",
)
REPORTS_NOT_IN_PAIRS = RefusalText(
    "local.pairs",
    "associate(…)",
    "the reports to both questions come from the same people, in the same order: here {counts}",
    "sf.local.associate(first, reports_to_first, second, reports_to_second)",
)
ORACLE_WITHOUT_PAIRS = RefusalText(
    "local.pairs",
    "{oracle}",
    "pairs are estimated from reports of Direct, Unary, Hashing and Rappor",
    "sf.local.Direct(epsilon=1, categories=['yes', 'no'])",
)
NOTHING_TO_DECODE = RefusalText(
    "local.decode",
    "Rappor.decode()",
    "without a Bloom filter each category has a bit, and nothing needs decoding",
    "oracle.estimate(reports)",
)
BLOOM_FILTER_OUT_OF_RANGE = RefusalText(
    "local.size",
    "hashes={hashes}, size={size}, cohorts={cohorts}",
    "a Bloom filter has 1 to 16 hashes, 2 to 4096 bits and 1 to 4096 cohorts",
    "hashes=2, size=128, cohorts=32",
)
HASHES_OR_SIZE_MISSING = RefusalText(
    "local.size",
    "hashes={hashes}, size={size}",
    "hashes= and size= belong together: a Bloom filter needs both, one bit per category neither",
    "hashes=2, size=128, cohorts=32",
)
BLOOM_BITS_SHARED = RefusalText(
    "local.bloom",
    "{oracle}",
    "two values have the same bits in every cohort",
    "size={size}, cohorts={cohorts}",
)
HADAMARD_SIZE_NOT_A_POWER_OF_TWO = RefusalText(
    "local.size",
    "size={size}, hadamard=True",
    "the size of a Hadamard sketch is a power of two",
    "size=1024, hadamard=True",
)
HADAMARD_SKETCH_OPTIMISED = RefusalText(
    "local.size",
    "optimised=True, hadamard=True",
    "a Hadamard sketch reports one bit, so it has nothing to optimise",
    "optimised=False, hadamard=True",
)
REPORT_ABOVE_MAX_BYTES = RefusalText(
    "local.size",
    "max_bytes={max_bytes}",
    "the report of every oracle is longer; the shortest has {shortest} bytes",
    "max_bytes={shortest}",
)
Q_NOT_ABOVE_P = RefusalText(
    "local.bits",
    "p={p}, q={q}",
    "q must exceed p: a remembered 1 is reported as 1 more often than a remembered 0",
    "p=0.5, q=0.75",
)

# Questions, reports and files of reports

UNKNOWN_QUESTION = RefusalText(
    "local.question",
    "a question",
    "this version does not know such a question",
    "restore(oracle.question)",
)
QUESTION_ALTERED = RefusalText(
    "local.question",
    "a question",
    "its numbers differ from those of the oracle that it names",
    "restore(oracle.question)",
)
REPORTS_TO_OTHER_QUESTION = RefusalText(
    "local.report",
    "{reports}",
    "these reports answer a different question",
    "restore(question).estimate(reports)",
)
ADDED_ACROSS_QUESTIONS = RefusalText(
    "local.report",
    "{kind} + {kind}",
    "they answer different questions",
    "oracle.estimate({kind})",
)
NOT_A_REPORT = RefusalText(
    "local.report",
    "report {number}",
    "no client of this question sends such a report",
    "read(reports, drop=True)",
)
AGGREGATE_NOT_SEARCHABLE = RefusalText(
    "local.report",
    "{aggregate}",
    "the search needs the reports themselves, not an aggregate",
    "estimate(reports)",
)
NOT_A_FILE_OF_REPORTS = RefusalText(
    "local.report",
    "a file of reports",
    "it does not begin like a file of version {version}",
    "oracle.read(reports.to_bytes())",
)
FILE_OF_WRONG_LENGTH = RefusalText(
    "local.report",
    "a file of reports",
    "its length does not match {count} reports of {width} bytes",
    "oracle.read(reports.to_bytes())",
)

# Questionnaires and panels

UNKNOWN_WAY_TO_ASK = RefusalText(
    "local.several",
    "how={how!r}",
    "how= is 'sample' (one question by lot) or 'split' (all questions)",
    "how='sample'",
)
TOO_FEW_OR_MANY_QUESTIONS = RefusalText(
    "local.several",
    "{count} questions",
    "a questionnaire has 2 to {most} questions",
    (
        "Questionnaire({{'age': OneBit(epsilon=1, low=0, high=100), 'smokes': Direct(epsilon=1, "
        "categories=['yes', 'no'])}})"
    ),
)
QUESTION_NOT_COMBINABLE = RefusalText(
    "local.several",
    "{name!r:.40}: {type}",
    (
        "no question of a questionnaire is a questionnaire, a prefix tree, or a question that "
        "needs a memory"
    ),
    (
        "Questionnaire({{'age': OneBit(epsilon=1, low=0, high=100), 'smokes': Direct(epsilon=1, "
        "categories=['yes', 'no'])}})"
    ),
)
EPSILON_NOT_OF_QUESTIONS = RefusalText(
    "local.several",
    "epsilon={epsilon}",
    "ε follows from the questions: their sum if split, the largest if sampled",
    "epsilon='{derived}'",
)
ANSWER_COLUMN_MISSING = RefusalText(
    "local.several",
    "values",
    "values needs a column for each question",
    "perturb({{'age': ages, 'city': cities}})",
)
ANSWER_COLUMNS_OF_UNEQUAL_LENGTH = RefusalText(
    "local.several",
    "values",
    "columns have different lengths: each person has one value per column",
    "perturb({{'age': ages, 'city': cities}})",
)
QUESTIONNAIRE_WITHOUT_ONE_COUNT = RefusalText(
    "local.several",
    "aggregate(…)",
    "a questionnaire has no single count",
    "{{name: survey[name].aggregate(part) for name, part in survey.parts_of(reports).items()}}",
)
QUESTION_NOT_REPEATABLE = RefusalText(
    "local.panel",
    "Panel({type})",
    (
        "a panel repeats one question that needs no memory and is neither a questionnaire nor a "
        "prefix tree"
    ),
    "Panel(Direct(epsilon=1, categories=['yes', 'no']), waves=12)",
)
WAVES_OUT_OF_RANGE = RefusalText(
    "local.panel",
    "waves={waves}, reports={reports}",
    "waves is 2 to {most:,}, and reports is 1 to the number of waves",
    "waves=12, reports=1",
)
WAVE_COLUMNS_MISSING = RefusalText(
    "local.panel",
    "values",
    "values has a row for each person and a column for each of the {waves} waves",
    "perturb([['yes'] * {waves}, ['no'] * {waves}])",
)
PANEL_WITHOUT_ONE_COUNT = RefusalText(
    "local.panel",
    "aggregate(…)",
    "a panel has no single count",
    "{{wave: panel.oracle.aggregate(part) for wave, part in panel.waves_of(reports).items()}}",
)

# Estimates and intervals

REPORT_COUNT_BELOW_ONE = RefusalText(
    "response.reports",
    "n={n}",
    "the number of reports is a whole number of at least 1",
    "n=1000",
)
NO_REPORTS = RefusalText(
    "response.reports",
    "estimate([])",
    "there is no report to estimate from",
    "estimate(oracle.perturb(values))",
)
UNKNOWN_INTERVAL_METHOD = RefusalText(
    "response.interval",
    "method={method!r}",
    "the method is unknown; there are {methods}",
    "method={example!r}",
)
EXACT_INTERVAL_NEEDS_BITS = RefusalText(
    "response.interval",
    "method='exact'",
    "an exact interval needs reports of one bit",
    "method='bounded'",
)
UNKNOWN_SHARES = RefusalText(
    "response.interval",
    "of={of!r}",
    "of= is 'cumulative' or 'frequencies'",
    "of='cumulative'",
)
UNKNOWN_CONSISTENCY_METHOD = RefusalText(
    "local.consistency",
    "method={method!r}",
    "the method is unknown; there are {methods}",
    "method='norm-sub'",
)
