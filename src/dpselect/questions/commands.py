"""The commands of all questions, and their options: data alone, so that help and forms load nothing that answers."""

from __future__ import annotations

from dpselect.questions.command import Command, Option
from dpselect.summaries.kinds import CandidateKind

BOUNDS = Option(
    "bounds",
    "bounds",
    "Smallest and largest possible answer. Public, never taken from the column; values beyond a bound count as that"
    " bound.",
)

MAX_ROWS_PER_UNIT = Option(
    "max_rows_per_unit",
    "whole",
    "Number of rows used per unit. If a unit has more, this many are chosen at random. The error grows with it.",
    default=1,
)


STEP = Option(
    "step",
    "exact",
    "Distance between possible answers, starting at the lower bound, such as 1 for ages in years; it has to divide the"
    " distance between the bounds. Default: 1 if the column's type is an integer type (CSV has no types).",
    default=None,
)

MOMENT_STEP = Option(
    "step",
    "exact",
    "Values are rounded to multiples of this above the lower bound; it has to divide the distance between the bounds."
    " Default: 1 if the column's type is an integer type (CSV has no types), else a millionth of the distance. With"
    " --bounds private, the distance of the smallest possible upper bound, 1/1024 if the type is another.",
    default=None,
)

CONTINUOUS = Option(
    "continuous",
    "flag",
    "Instead of --step: the answer is any number between the bounds. Only for values of which hardly any two are equal;"
    " there is no error bound.",
    default=False,
)

BOUNDS_IF_KNOWN = Option(
    "bounds",
    "bounds or private",
    "Smallest and largest possible answer. Public, never taken from the column; values beyond a bound count as that"
    " bound. Without them, --lower is the smallest, and the answers are found with more noise; --bounds private"
    " spends a quarter of --epsilon on an upper bound at any level.",
    default=None,
)

BOUNDS_OR_PRIVATE = Option(
    "bounds",
    "bounds or private",
    "Smallest and largest value. Public, never taken from the column; values beyond a bound count as that bound. With"
    " --bounds private an upper one is found first, with half of --epsilon.",
)

LOWER_IF_PRIVATE = Option(
    "lower",
    "exact",
    "With --bounds private, the smallest value; public. Default: 0.",
    default=None,
)

LOWER_IF_UNBOUNDED = Option(
    "lower",
    "exact",
    "Smallest possible answer where there are no --bounds. Public; smaller values count as this. Default: 0.",
    default=None,
)

METHOD = Option(
    "method",
    ("permute-and-flip", "exponential"),
    "What draws the answer. By itself permute-and-flip has the smaller error; of many questions that share an"
    " account with a delta, those drawn by the exponential mechanism cost less together. Default: permute-and-flip,"
    " unless another option decides.",
    default=None,
)

WITH_GAP = Option(
    "with_gap",
    "flag",
    "Also release by how much each answer is ahead of all others, or of all after it, at no cost: a lead that is sure"
    " with 99% confidence, and a p-value. A --delta is then spent only on noise that is added once to all counts.",
    default=False,
)

MAX_VALUES_PER_UNIT = Option(
    "max_values_per_unit",
    "whole",
    "Number of values for which one unit counts; if a unit has more, this many are chosen at random. If it is small,"
    " noise is added once to all counts: far less noise, and the counts come with the answer. Default: any number;"
    " for top-k without candidates, 1.",
    default=None,
)

WITH_COUNTS = Option(
    "with_counts",
    "flag",
    "Also release how many units have each answer, with noise. If the counts do not come at no cost, half of --epsilon"
    " selects and half counts.",
    default=False,
)

_OF_QUANTILES = (BOUNDS_IF_KNOWN, LOWER_IF_UNBOUNDED, STEP, CONTINUOUS, MAX_ROWS_PER_UNIT)

LOWER = Option(
    "lower",
    "exact",
    "Smallest possible answer. Public; smaller values count as this.",
    default=0.0,
)

SMALLEST_STEP = Option(
    "step",
    "exact",
    "Smallest distance between possible answers, such as 1 for ages in years; far from --lower they are 1% of the"
    " distance from it apart. Default: 1 if the column's type is an integer type (CSV has no types).",
    default=None,
)

DELTA = Option(
    "delta",
    "number",
    "Probability with which the guarantee may fail. Choose it far below one over the number of units,"
    " such as 1e-6 for up to about 10,000 units.",
)

MAX_VALUES_NAMED = Option(
    "max_values_per_unit",
    "whole",
    "Number of values for which one unit counts. If a unit has more, this many are chosen at random. The larger it is,"
    " the more units a value needs.",
    default=1,
)

KIND = Option(
    "kind",
    tuple(kind.name.lower() for kind in CandidateKind),
    "How unknown values are read. Default: the column's type; in CSV and JSON lines, text.",
    default=None,
)

WEIGHTS = Option(
    "weights",
    "levels",
    "Public weights of the candidates, in their order, such as 1,2,5. A candidate with twice the weight is"
    " selected twice as often at the same count; 0 leaves it out. Drawn by the exponential mechanism.",
    default=None,
)

COMMANDS: dict[str, Command] = {
    about.name: about
    for about in (
        Command(
            name="count",
            asks="How many people are there?",
            does="Count the units, or those with a row that has one of some values or a number between two bounds.",
            example=("adult.csv", "--unit person_id --epsilon 0.5"),
            also=(
                (
                    "How many people meet a condition?",
                    ("adult.csv age", "--between 65 120 --unit person_id --epsilon 0.5"),
                ),
            ),
            column="Column of the condition. Without one, every unit is counted.",
            needs_column=False,
            options=(
                Option(
                    "values",
                    "values",
                    "Count units with one of these values of COLUMN: Oslo,Rome, a range 1..5, or @file.",
                    default=None,
                ),
                Option(
                    "between",
                    "bounds",
                    "Count units with a number in COLUMN that is not below the first and not above the second.",
                    default=None,
                ),
            ),
        ),
        Command(
            name="histogram",
            asks="How many have each value?",
            does="Count the units with each of the values.",
            example=("adult.csv education_num", "--unit person_id --candidates 1..16 --epsilon 0.5"),
            column="Column with the values.",
            chooses=True,
            needs_several=False,
            options=(
                Option(
                    "max_values_per_unit",
                    "whole",
                    "Number of values for which one unit counts. If a unit has more, this many are chosen at random."
                    " The noise grows with it.",
                    default=1,
                ),
                Option(
                    "delta",
                    "number",
                    "Probability with which the guarantee may fail, such as 1e-6 for up to about 10,000 units. Above 0,"
                    " the noise is discrete Gaussian if that has the smaller error bound.",
                    default=0.0,
                ),
            ),
        ),
        Command(
            name="most_common",
            asks="What is the most common value?",
            does="Find the most common value.",
            example=("clicks.parquet page", "--unit session --candidates 1..41270 --epsilon 0.5"),
            column="Column with the values.",
            chooses=True,
            options=(WITH_COUNTS, WITH_GAP, MAX_VALUES_PER_UNIT, WEIGHTS, METHOD),
        ),
        Command(
            name="top_k",
            asks="What are the ten most common values, and how many have each?",
            does="Find the K most common values, best first.",
            example=("clicks.parquet page 10", "--unit session --candidates 1..41270 --epsilon 1 --with-counts"),
            also=(
                (
                    "And without a list of candidates?",
                    ("clicks.parquet page 10", "--unit session --epsilon 1 --delta 1e-6"),
                ),
            ),
            column="Column with the values.",
            positional=(Option("k", "whole", "Number of values to select."),),
            options=(
                Option(
                    "delta",
                    "number",
                    "Probability with which the guarantee may fail, such as 1e-6 for up to about 10,000 units. A value"
                    " above 0 reduces the error from about ten values on. With --max-values-per-unit or --with-counts,"
                    " Gaussian noise on all counts is used if it is smaller.",
                    default=0.0,
                ),
                WITH_COUNTS,
                WITH_GAP,
                MAX_VALUES_PER_UNIT,
                Option(
                    "method",
                    ("auto", "set"),
                    "With set, the values are drawn as one set, which has no order: the noise does not grow with their"
                    " number. For values that are well ahead of all others. Not with --delta, --with-gap or"
                    " --max-values-per-unit.",
                    default="auto",
                ),
                WEIGHTS,
                KIND,
            ),
            chooses=True,
            needs_list=False,
        ),
        Command(
            name="values",
            asks="Which values occur, without a list of candidates?",
            does="Name the values that enough units have, without a public list of candidates.",
            example=("clicks.parquet page", "--unit session --epsilon 1 --delta 1e-6"),
            column="Column with the values.",
            options=(DELTA, MAX_VALUES_NAMED, KIND),
        ),
        Command(
            name="least_common",
            asks="What is the rarest value?",
            does="Find the rarest value. A value that nobody has is the rarest of all.",
            example=("adult.csv education_num", "--unit person_id --candidates 1..16 --epsilon 0.5"),
            column="Column with the values.",
            chooses=True,
            options=(WITH_COUNTS, WITH_GAP, MAX_VALUES_PER_UNIT, WEIGHTS, METHOD),
        ),
        Command(
            name="sum",
            asks="What do the values add up to?",
            does="Add up the numbers in COLUMN, a bounded amount for each unit.",
            example=("adult.csv hours_per_week", "--unit person_id --clip 0 80 --epsilon 0.5"),
            also=(
                (
                    "And without a known clip?",
                    ("adult.csv hours_per_week", "--unit person_id --clip private --epsilon 1"),
                ),
            ),
            options=(
                Option(
                    "clip",
                    "bounds or private",
                    "Smallest and largest amount that one unit may add; public. The noise grows with it. With --clip"
                    " private the largest one is found first, with half of --epsilon.",
                ),
                Option(
                    "lower",
                    "exact",
                    "With --clip private, the smallest amount that one unit may add; public. Default: 0.",
                    default=None,
                ),
                Option(
                    "scale",
                    "number",
                    "Multiply the numbers by this and round them to whole numbers: 100 counts cents.",
                    default=1.0,
                ),
            ),
        ),
        Command(
            name="mean",
            asks="What is the mean?",
            does="Find the mean of one value per unit, and the number of units that have one.",
            example=("adult.csv age", "--unit person_id --bounds 0 120 --epsilon 0.5"),
            also=(
                (
                    "And without known bounds?",
                    ("adult.csv hours_per_week", "--unit person_id --bounds private --step 1 --epsilon 1"),
                ),
            ),
            options=(
                BOUNDS_OR_PRIVATE,
                LOWER_IF_PRIVATE,
                MOMENT_STEP,
                Option(
                    "units",
                    "whole",
                    "Number of units, if it is publicly known; units without a value then count as the midpoint of the"
                    " bounds. Default: it is private, and released with noise.",
                    default=None,
                ),
            ),
        ),
        Command(
            name="variance",
            asks="How widely are the values spread?",
            does="Find the variance of one value per unit, and the number of units that have one. Its square root is"
            " the standard deviation.",
            example=("adult.csv age", "--unit person_id --bounds 0 120 --epsilon 0.5"),
            options=(BOUNDS_OR_PRIVATE, LOWER_IF_PRIVATE, MOMENT_STEP),
        ),
        Command(
            name="median",
            asks="What is the median?",
            does="Find the median: about half of the values lie below it.",
            example=("adult.csv age", "--unit person_id --bounds 0 120 --step 1 --epsilon 0.5"),
            options=_OF_QUANTILES,
            page="quantiles",
        ),
        Command(
            name="quantile",
            asks="Below which number do 90% of the values lie?",
            does="Find the quantile at LEVEL: about this share of the values lies below it. 0.5 is the median.",
            example=("adult.csv hours_per_week 0.9", "--unit person_id --bounds 0 168 --step 1 --epsilon 0.5"),
            also=(
                (
                    "And without known bounds?",
                    ("adult.csv hours_per_week 0.9", "--unit person_id --step 1 --epsilon 0.5"),
                ),
                (
                    "And from bounds that are found first?",
                    ("adult.csv hours_per_week 0.9", "--unit person_id --bounds private --step 1 --epsilon 1"),
                ),
            ),
            positional=(Option("level", "number", "Share of the values below the quantile, from 0 to 1."),),
            options=_OF_QUANTILES,
            page="quantiles",
        ),
        Command(
            name="quantiles",
            asks="What are the quartiles?",
            does="Find several quantiles at the cost of one epsilon.",
            example=("adult.csv age 0.25,0.5,0.75", "--unit person_id --bounds 0 120 --step 1 --epsilon 0.5"),
            positional=(
                Option("levels", "levels", "Different shares of the values, from 0 to 1, separated by commas."),
            ),
            options=(
                BOUNDS,
                STEP,
                CONTINUOUS,
                Option(
                    "method",
                    ("joint", "halving"),
                    "joint draws all quantiles at once. halving draws the middle one first, then the others on each"
                    " side; it is better for very many levels.",
                    default="joint",
                ),
                MAX_ROWS_PER_UNIT,
            ),
        ),
        Command(
            name="upper_bound",
            asks="Which number do hardly any values exceed?",
            does="Find a number that only a few values exceed, such as a bound to clip a sum by.",
            example=("adult.csv hours_per_week", "--unit person_id --step 1 --epsilon 0.5"),
            options=(LOWER, SMALLEST_STEP, MAX_ROWS_PER_UNIT),
        ),
        Command(
            name="density",
            asks="What share of the units falls in each bin?",
            does="Find how the values are distributed: the share of the units in each bin.",
            example=("adult.csv age", "--unit person_id --bounds 0 120 --bins 12 --epsilon 0.5"),
            options=(
                Option(
                    "bounds",
                    "bounds",
                    "Start of the first bin and end of the last. Public, never taken from the column; values beyond"
                    " belong to the outer bins. If no end is known, ask for an upper bound first.",
                ),
                Option("bins", "whole", "Number of bins of equal width."),
                Option(
                    "method",
                    ("counts", "sample"),
                    "counts adds noise to the count of each bin and is nearly always more accurate. sample draws a"
                    " sample that is close to the units in Kolmogorov-Smirnov distance.",
                    default="counts",
                ),
                Option(
                    "units",
                    "whole",
                    "For a sample, the number of units (in each group), as publicly known.",
                    default=None,
                ),
                Option(
                    "sample_size",
                    "whole",
                    "For a sample, its number of points. Default: computed from epsilon and the number of units.",
                    default=None,
                ),
            ),
        ),
        Command(
            name="best_by",
            asks="Which value has the largest sum of amounts?",
            does="Find the value of COLUMN with the largest sum of the numbers in SUM.",
            example=(
                "adult.csv education_num capital_gain",
                "--unit person_id --candidates 1..16 --clip 0 10000 --epsilon 1",
            ),
            column="Column with the values.",
            positional=(Option("sum", "text", "Column of numbers to add up."),),
            options=(
                Option(
                    "clip",
                    "bounds",
                    "Smallest and largest amount that one unit may add to a value; public. The error grows with the"
                    " range. If none is known, ask for an upper bound first.",
                ),
                Option(
                    "scale",
                    "number",
                    "Multiply the numbers by this and round them to whole numbers: 100 counts cents.",
                    default=1.0,
                ),
                WITH_COUNTS,
                METHOD,
            ),
            chooses=True,
        ),
        Command(
            name="best_date",
            asks="On which date are the most people free?",
            does="Find the date on which the most units are free. Each row states that a unit is free on a date.",
            example=("free_days.csv free_on", "--unit person --bounds 2026-12-01 2026-12-31 --epsilon 1"),
            column="Column of dates.",
            options=(
                Option(
                    "dates",
                    "dates",
                    "Public dates to choose from: a list 2026-12-01,2026-12-08, @file with one per line, or"
                    " @codes.csv:column.",
                    default=None,
                ),
                Option("bounds", "ends", "First and last date, instead of a list.", default=None),
                Option("step", "whole", "With --bounds, the number of days from one date to the next.", default=1),
                WITH_COUNTS,
                WITH_GAP,
                METHOD,
            ),
        ),
        Command(
            name="best_price",
            asks="Which price earns the most?",
            does="Find the price that earns the most if everybody buys who offers at least the price.",
            example=("adult.csv capital_gain", "--unit person_id --prices 500,1000,2500,5000,7000 --epsilon 1"),
            column="Column of numbers: the most that each unit would pay.",
            options=(
                Option(
                    "prices",
                    "prices",
                    "Public prices to choose from: a range 1..100, a list 4.99,9.99, @file with one per line, or"
                    " @codes.csv:column. The error grows with the highest price. Give either this or --bounds.",
                    default=None,
                ),
                Option(
                    "bounds",
                    "bounds",
                    "Smallest and largest price, public, together with --step or --continuous.",
                    default=None,
                ),
                STEP,
                CONTINUOUS,
                MAX_ROWS_PER_UNIT,
            ),
        ),
    )
}
"""By the name of the method of `dpselect.Dataset`: the ways to ask a question."""
