"""The report on a plan's answers: one file of HTML that needs nothing else, for people who were not there.

It holds what the certificates hold, in words and pictures. Nothing is loaded from elsewhere, and nothing runs.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from importlib.metadata import metadata
from typing import Any, cast

from dpselect.accounting.rounding import fraction_up
from dpselect.certificates.release import SEEDED_PROMISE, Release
from dpselect.charts import svg_without_title
from dpselect.errors import InvalidParameterError, MissingExtraError
from dpselect.ledger.records import Account, as_written
from dpselect.privacy import Neighbours
from dpselect.questions import QUESTIONS, wording
from dpselect.questions.question import as_text
from dpselect.questions.wording import cost_shown, factor_shown, left_shown

MOST_ROWS = 50
"""Of an answer; the rest is in ``answers.json``."""

PLAINLY = {
    "DiscreteGaussianMechanism": "adds a random whole number to each count",
    "ExponentialMechanism": "draws one of the candidates, better ones far more often",
    "ExponentialNoiseTopK": "adds a random number to the score of each candidate, and names the largest",
    "GaussianThresholdCounts": "adds a random whole number to each count, and names those that are large enough",
    "GeometricMechanism": "adds a random whole number to each count",
    "LaplaceMechanism": "adds a random number",
    "PermuteAndFlip": "draws one of the candidates, better ones far more often",
    "PriceListMechanism": "draws one of the prices, those with more revenue far more often",
    "QuantileMechanism": "draws a value, those near the true one far more often",
    "QuantilesMechanism": "draws values in order, those near the true ones far more often",
    "ReportNoisyMax": "adds a random number to the score of each candidate, and names the largest",
    "ThresholdCounts": "adds a random whole number to each count, and names those that are large enough",
}
"""What a mechanism does, for people who were not there."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #555; --line: #d5d5d5; --page: #fff; --card: #f7f7f5;
  --loud: #8a1f11; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --soft: #b5b5b5; --line: #444; --page: #161616; --card: #202020; --loud: #ff9d8a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Helvetica, Arial, "Liberation Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 0 0 .1rem; }
header p, .asks, .small { color: var(--soft); margin: 0; }
section { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 1.25rem; }
.promise { background: var(--card); border-left: 4px solid #0b4a8f; margin: 1.25rem 0 0; padding: .75rem 1rem; }
.value { font-size: 2rem; font-weight: 600; line-height: 1.25; margin: .5rem 0; }
.loud { color: var(--loud); font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .75rem 0; }
th, td { border-bottom: 1px solid var(--line); overflow-wrap: break-word; padding: .25rem 1.25rem .25rem 0;
  text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
img { background: #fff; border: 1px solid var(--line); display: block; height: auto; margin: .75rem 0;
  max-width: 100%; }
a { color: inherit; }
code { font: .875em/1.4 ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
@media (max-width: 34rem) { th, td { font-size: .875rem; padding-right: .75rem; }
  .spent :is(th, td):nth-child(2) { display: none; } .spent td:last-child { overflow-wrap: anywhere; } }
@media print { body { max-width: none; padding: 0; } section { break-inside: avoid; } .scroll { overflow: visible; }
  h2, .asks { break-after: avoid; } tr, img { break-inside: avoid; } }
"""


def report(
    name: str,
    releases: Mapping[str, Release[Any]],
    words: Mapping[str, str],
    account: Account | None,
    *,
    epsilon: float,
    delta: float,
    notes: Sequence[str] = (),
) -> str:
    """The whole page.

    Args:
        name: of the plan.
        releases: the answer to each question, by name; at least one.
        words: what each question asks.
        account: the account that was charged; None without a ledger.
        epsilon: what all answers cost together.
        delta: likewise.
        notes: sentences on answers that were stored before.
    """
    first = next(iter(releases.values()))
    days = sorted({each.time.date().isoformat() for each in releases.values()})
    head = [
        f"<h1>{escape(name)}</h1>",
        f"<p>{escape(_source(first))}. Protected: each {escape(first.unit)}. Query on {', '.join(days)} (UTC).</p>",
    ]
    sections = [_answer(key, words[key], each) for key, each in releases.items()]
    seeded = any(each.seeded for each in releases.values())
    promise = _loud(SEEDED_PROMISE) if seeded else escape(plain_promise(first, epsilon=epsilon, delta=delta))
    body = [
        f"<header>{''.join(head)}</header>",
        f'<p class="promise">{promise}</p>',
        *(f"<p>{escape(each)}</p>" for each in notes),
        *sections,
        *_how_to_read(releases.values()),
        _spent(releases, words, account, epsilon=epsilon, delta=delta),
        _proofs(releases.values(), epsilon),
    ]
    meta = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    size = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">{meta}{size}',
            f"<title>{escape(name)}</title><style>{_STYLE}</style></head>",
            "<body><main>",
            *body,
            "</main></body>\n</html>\n",
        ]
    )


def plain_promise(release: Release[Any], *, epsilon: float, delta: float) -> str:
    """What differential privacy promises, in words and as a factor; for all answers together.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> plain_promise(people.count(epsilon=1.0), epsilon=1.0, delta=0.0)[:90]
    'Whether or not any one person_id is in the table hardly changes these answers: whatever th'
    """
    unit = release.unit
    if release.neighbours is Neighbours.ADD_REMOVE:
        change = f"Whether or not any one {unit} is in the table"
    else:
        change = f"Which rows any one {unit} has in the table"
    factor = factor_shown(epsilon)
    text = f"{change} hardly changes these answers: whatever they show, and whatever is concluded from them, becomes"
    text += f" at most {factor} times as likely or unlikely by it (epsilon = {cost_shown(epsilon)}, for all answers"
    text += " here together)."
    if delta:
        text += f" This may fail with a probability of at most delta = {cost_shown(delta)}."
    return text + " Other answers about the same table add to it."


def _source(release: Release[Any]) -> str:
    """What the table is called, from its certificate."""
    held = dict(release.source or {})
    listed: Any = held.get("files") or [held.get("table") or held.get("frame") or "a table"]
    files = ", ".join(map(str, cast("list[object]", listed)))
    return f"Table: {held['name']} ({files})" if "name" in held else f"Table: {files}"


def _answer(name: str, words: str, release: Release[Any]) -> str:
    _, lines = release.rows()
    kind, tallies = QUESTIONS[release.task], wording.tallies(release)
    parts = [f"<h2>{escape(name.replace('_', ' '))}</h2>", f'<p class="asks">{escape(words)}</p>']
    if len(lines) == 1 and tallies is None and release.groups is None:
        parts.append(f'<p class="value">{escape(as_text(lines[0][1]))}</p>')
    else:
        heads = [*wording.heads(kind, release), *([] if tallies is None else [wording.tally_head(release)])]
        rows = [(*line, *([] if tallies is None else [tallies[place]])) for place, line in enumerate(lines[:MOST_ROWS])]
        parts.append(_table(heads, rows))
        if len(lines) > MOST_ROWS:
            parts.append(f'<p class="small">{len(lines) - MOST_ROWS:,} more rows are in answers.json.</p>')
    parts += [f"<p>{_loud(each) if wording.LOUD in each else escape(each)}</p>" for each in release.sentences if each]
    if len(lines) > 1 or kind.is_amount:  # one point on a line shows nothing
        parts.append(_picture(name, release))
    return f"<section>{''.join(parts)}</section>"


def _picture(name: str, release: Release[Any]) -> str:
    """A chart of the numbers, if there are any to draw, and what draws them is installed."""
    try:
        picture = svg_without_title(release.plot())
    except (InvalidParameterError, MissingExtraError):
        return ""
    about = escape(f"Chart of {name.replace('_', ' ')}. {release.accuracy}", quote=True)
    return f'<img alt="{about}" src="data:image/svg+xml;base64,{b64encode(picture.encode()).decode()}">'


def _spent(
    releases: Mapping[str, Release[Any]],
    words: Mapping[str, str],
    account: Account | None,
    *,
    epsilon: float,
    delta: float,
) -> str:
    rows = [
        (name.replace("_", " "), words[name], _cost(each), cost_shown(each.delta), each.mechanism)
        for name, each in releases.items()
    ]
    rows.append(("together", "", cost_shown(epsilon), cost_shown(delta), ""))
    table = _table(("question", "asks", "epsilon", "delta", "drawn by"), rows)
    parts = ["<h2>What was spent</h2>", f'<div class="spent">{table}</div>']
    if account is None:
        text = (
            "Nothing was charged to a ledger; the costs of other answers about the same table have to be added by hand."
        )
        parts.append(f"<p>{text}</p>")
    else:
        limit, spent = as_text(as_written(account.epsilon)), cost_shown(fraction_up(account.spent))
        text = f"Account {account.name} promises epsilon = {limit} in all; {spent} of it is spent, with these answers,"
        text += f" and {as_text(left_shown(account.left))} is left."
        parts.append(f"<p>{escape(text)}</p>")
        head = f"Hash of its latest entry, number {account.entries - 1}: <code>{escape(account.head)}</code>."
        parts.append(f'<p class="small">{head}</p>')
    return f"<section>{''.join(parts)}</section>"


def _cost(release: Release[Any]) -> str:
    """The parts of its epsilon as they were given, or the sum with few digits."""
    parts = wording.cost(release, release.epsilon)
    return parts if "+" in parts else cost_shown(release.epsilon)


def _how_to_read(releases: Iterable[Release[Any]]) -> list[str]:
    """What readers ask who were not there, each once for the whole page."""
    held, said = [*releases], list[str]()
    if any(QUESTIONS[each.task].error_unit(each) == "ranks" for each in held):
        text = "Ranks count rows in the order of their values: within 20 ranks of the true median, say, means that at"
        said.append(f"{text} most 20 of the rows that are counted lie between the answer and the true one.")
    drawn = [each for each in dict.fromkeys(each.mechanism for each in held) if each in PLAINLY]
    said += [f"{each} {PLAINLY[each]}." for each in drawn]
    if any(each.basis_missing for each in held):
        text = "How many had rows that could be used was not asked, for some or all answers: it would have cost more."
        said.append(text)
    texts = "".join(f"<p>{escape(each)}</p>" for each in said)
    return [f"<section><h2>How to read this</h2>{texts}</section>"] if said else []


def _proofs(releases: Iterable[Release[Any]], epsilon: float) -> str:
    held = [*releases]
    together = set[str]() if len(held) == 1 else {"proofs/composition.md"}
    if sum(Fraction(each.epsilon) for each in held) > Fraction(epsilon):
        together.add("proofs/ledger.md")  # which proves what an account accepts together
    pages = sorted(together.union(*(each.proofs for each in held)))
    versions = ", ".join(sorted({each.version for each in held}))
    text = "What is promised is proved on these pages of the documents of dpselect"
    check = "The certificates next to this page can be checked: <code>dpselect verify certificates/NAME.json</code>."
    links = "".join(f"<li>{_link(page)}</li>" for page in pages)
    return f"<section><h2>Proofs</h2><p>{text} ({escape(versions)}):</p><ul>{links}</ul><p>{check}</p></section>"


def _link(page: str) -> str:
    """The name of a proof page, and the way to it if the package says where its documentation is."""
    urls = dict(each.split(", ", 1) for each in metadata("dpselect").get_all("Project-URL") or [])
    name, site = f"<code>{escape(page)}</code>", urls.get("Documentation", "").rstrip("/")
    address = f"{site}/{page.removesuffix('.md')}.html"
    return f'<a href="{escape(address)}">{name}</a>' if site else name


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(as_text(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def _loud(text: str) -> str:
    return f'<span class="loud">{escape(text)}</span>'
