"""The report on answers: one page of HTML, for people who were not there. Nothing is loaded, and nothing runs."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from html import escape
from importlib.metadata import metadata
from importlib.resources import files
from string import Template
from typing import Any, cast

from dpselect.certificates.release import SEEDED_PROMISE, Release
from dpselect.charts import svg_without_title
from dpselect.checks import fraction_up
from dpselect.errors import InvalidParameterError, MissingExtraError, Shown
from dpselect.ledger.accounts import Account, as_written, left_shown
from dpselect.privacy import Guarantee, Neighbours
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.questions.wording import cost_shown, factor_shown, html_notes, html_table, remark, rounded_up
from dpselect.questions.words import as_text

_MOST_ROWS = 50
"""Of an answer; the rest is in its certificate."""

_WRONGLY = 5
"""Of 100 that are absent, those whom a test takes for present: the customary significance of a test."""


def report(releases: Sequence[Release[Any]], *, title: str = "Answers") -> str:
    """Answers as one page of HTML that needs nothing else: what was promised, asked and answered, and how to read it.

    The answers, at least one, are about one table. Each certificate is in the page; numbers have a picture if the extra
    ``plots`` is installed.

    Raises:
        InvalidParameterError: there are none, or something else is among them.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> page = dps.report([people.count(epsilon=0.5), people.count("age", between=(65, 120), epsilon=0.25)])
    >>> "(epsilon = 0.75, for all answers here together)" in page
    True
    """
    if not isinstance(cast(object, title), str):
        raise InvalidParameterError("title", title, "a text")
    is_several = isinstance(cast(object, releases), Sequence)
    held = list[Any](releases if is_several else [])
    if not held or not all(isinstance(each, Release) for each in held):
        raise InvalidParameterError("releases", Shown(f"<{len(held)} entries>"), "answers of a Dataset, at least one")
    about = [(each.unit, each.neighbours, each.source) for each in held]
    if any(each != about[0] for each in about):
        hint = "Costs add up for one table and one unit alone."
        raise InvalidParameterError("releases", Shown("<several tables>"), "answers about one table", hint)
    asked = [each.asks for each in held]
    names = [f"{place}. {each}" if asked.count(each) > 1 else each for place, each in enumerate(asked, 1)]
    return page(
        dict(zip(names, held, strict=True)),
        title=title,
        account=None,
        epsilon=fraction_up(sum((Fraction(each.epsilon) for each in held), Fraction(0))),
        delta=fraction_up(sum((Fraction(each.delta) for each in held), Fraction(0))),
    )


def page(
    releases: Mapping[str, Release[Any]],
    *,
    title: str,
    account: Account | None,
    epsilon: float,
    delta: float,
    note: str = "",
) -> str:
    """The whole page about answers by name, at least one, that cost epsilon and delta together."""
    held = [*releases.values()]
    first, days = held[0], sorted({each.time.date().isoformat() for each in held})
    promise = in_words(Guarantee(epsilon, delta, first.neighbours, first.unit), several=True)
    seeded = any(each.seeded for each in held)
    spent = {
        "question": [*(_named(name, each)[0] for name, each in releases.items()), "together"],
        "asks": [*(_named(name, each)[1] for name, each in releases.items()), ""],
        "epsilon": [*map(_cost, held), cost_shown(epsilon)],
        "delta": [*(cost_shown(each.delta) for each in held), cost_shown(delta)] if delta else [],
        "drawn by": [*(each.mechanism for each in held), ""],
    }
    spent = {head: cells for head, cells in spent.items() if any(cells)}  # others say nothing
    template = files("dpselect.plans").joinpath("report.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        title=escape(title),
        about=escape(f"Table: {first.opened}. Protected: each {first.unit}. Query on {', '.join(days)} (UTC)."),
        promise=escape(SEEDED_PROMISE if seeded else promise),
        seeded="loud" * seeded,
        note=html_notes(note),
        answers="\n".join(_answer(name, each) for name, each in releases.items()),
        reading=html_notes(*_how_to_read(held)),
        spent=_table([*spent], [*zip(*spent.values(), strict=True)]),
        account=_account(account, held),
        proofs=_proofs(held, epsilon),
        version=escape(", ".join(sorted({each.version for each in held}))),
    )


def in_words(guarantee: Guarantee, *, several: bool = False) -> str:
    """What differential privacy promises, in words and as a factor; for one answer, or for several together."""
    unit, epsilon, delta = guarantee.unit, guarantee.epsilon, guarantee.delta
    is_added = guarantee.neighbours is Neighbours.ADD_REMOVE
    who = f"Whether or not any one {unit} is" if is_added else f"Which rows any one {unit} has"
    what = "these answers: whatever they show, and whatever is concluded from them, " if several else ""
    what = what or "this answer: whatever it shows "
    factor, together = factor_shown(epsilon), ", for all answers here together" if several else ""
    text = f"{who} in the table hardly changes {what}becomes at most {factor} times as likely or unlikely by it"
    text += f" (epsilon = {cost_shown(epsilon)}{together})."
    if said := remark(epsilon):
        text = text.replace("hardly changes", "may change") + said
    if is_added:
        found = rounded_up(100.0 * guarantee.power(_WRONGLY / 100))
        text += f" A test that takes {_WRONGLY} of 100 absent ones for present finds at most {found} of 100 present"
        text += " ones, even if it knows all other rows."
    if delta:
        text += f" This may fail with a probability of at most delta = {cost_shown(delta)}."
    return f"{text} Other answers about the same table add to it." if several else text


def only_value(release: Release[Any], rows: Sequence[Sequence[str]]) -> str | None:
    """The value of an answer that is a single one, from the rows of its table."""
    is_first = QUESTIONS[release.task].label == "answer"
    return rows[0][0 if is_first else 1] if len(rows) == 1 and release.groups is None else None


def picture_of(release: Release[Any]) -> str:
    """A chart of the numbers; empty if there are not several, or they are none."""
    if len(release.table()[1]) > 1:  # one bar, or one point on a line, shows nothing
        with suppress(InvalidParameterError):
            return svg_without_title(release.plot())
    return ""


def _named(name: str, release: Release[Any]) -> tuple[str, str]:
    """A question's name in a plan, in words, and what it asks, unless its name is that."""
    return (name, "") if name.endswith(release.asks) else (name.replace("_", " "), release.asks)


def _answer(name: str, release: Release[Any]) -> str:
    title, asks = _named(name, release)
    heads, rows = release.table()
    more = f"{len(rows) - _MOST_ROWS:,} more rows are in the certificate." if len(rows) > _MOST_ROWS else ""
    answer = _table(heads, rows[:_MOST_ROWS], more)
    if release.counts is None and (only := only_value(release, rows)) is not None:
        answer = f'<p class="value">{escape(only)}</p>'
        answer += "" if release.interval is None else html_notes(f"{heads[-1]}: {rows[0][-1]}.")
    picture = ""
    with suppress(MissingExtraError):
        picture = picture_of(release)
    if picture:
        about = escape(f"Chart of {title}. {release.accuracy}", quote=True)
        picture = f'<img alt="{about}" src="data:image/svg+xml;base64,{b64encode(picture.encode()).decode()}">'
    held = b64encode(release.to_json().encode()).decode()
    link = f'<a download="{escape(name)}.json" href="data:application/json;base64,{held}">Certificate</a>'
    return (
        f'<section><h2>{escape(title)}</h2><p class="asks">{escape(asks)}</p>{answer}{html_notes(*release.sentences)}'
        f'{picture}<p class="small">{link}, which others can verify.</p></section>'
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]], *notes: str) -> str:
    return f'<div class="scroll">{html_table(heads, rows, *notes)}</div>'


def _account(account: Account | None, releases: Iterable[Release[Any]]) -> str:
    entries = [f"{each.receipt['account']} (entry {each.receipt['sequence']})" for each in releases if each.receipt]
    if account is None and entries:
        return html_notes(f"Charged to the accounts of a ledger: {', '.join(entries)}.")
    if account is None:
        by_hand = "the costs of other answers about the same table have to be added by hand"
        return html_notes(f"Nothing was charged to a ledger; {by_hand}.")
    limit, spent = as_text(as_written(account.epsilon)), cost_shown(fraction_up(account.spent))
    text = f"Account {account.name} promises epsilon = {limit} in all; {spent} of it is spent, with these answers,"
    text += f" and {left_shown(account.left)} is left."
    head = f"Hash of its latest entry, number {account.entries - 1}: <code>{escape(account.head)}</code>."
    return f'{html_notes(text)}<p class="small">{head}</p>'


def _cost(release: Release[Any]) -> str:
    """The parts of its epsilon as they were given, or the sum with few digits."""
    parts = wording.cost(release, release.epsilon)
    return parts if "+" in parts else cost_shown(release.epsilon)


def _how_to_read(releases: Sequence[Release[Any]]) -> list[str]:
    """What readers ask who were not there, each once for the whole page."""
    said = [
        "Each answer is the true one with a random error, which is what protects people. Asked again it would be"
        " another one. How large the error may be stands below each answer; 99% confidence means: in 99 of 100 such"
        " answers it is no larger.",
        "Epsilon measures how much an answer may show about any one of those who are protected. The smaller it is, the"
        " less it shows, and the larger is the error. Epsilons of several answers about the same table add up.",
    ]
    if any(each.error_unit == "ranks" for each in releases):
        text = "Ranks count rows in the order of their values: within 20 ranks of the true median, say, means that at"
        said.append(f"{text} most 20 of the rows that are counted lie between the answer and the true one.")
    if any(each.basis_missing for each in releases):
        text = "How many had rows that could be used was not asked, for some or all answers: it would have cost more."
        said.append(text)
    return said


def _proofs(releases: Sequence[Release[Any]], epsilon: float) -> str:
    """The pages that prove what is promised, with links if the package says where its documentation is."""
    pages = set[str]().union(*(each.proofs for each in releases))
    if len(releases) > 1:
        pages.add("proofs/composition.md")
    if sum(Fraction(each.epsilon) for each in releases) > Fraction(epsilon):
        pages.add("proofs/ledger.md")  # which proves what an account accepts together
    urls = dict(each.split(", ", 1) for each in metadata("dpselect").get_all("Project-URL") or [])
    site = urls.get("Documentation", "").rstrip("/")
    items = ""
    for each in sorted(pages):
        name = f"<code>{escape(each)}</code>"
        link = f'<a href="{escape(site)}/{escape(each.removesuffix(".md"))}.html">{name}</a>'
        items += f"<li>{link if site else name}</li>"
    return items
