"""``dpselect check``: what a question would read of a table, exactly, for the holder of the data."""

from __future__ import annotations

from dpselect.cli import candidates as public
from dpselect.cli.format_options import AS_USUAL, FormatOptions
from dpselect.cli.options import Bounds, File, Flag, Step, Text
from dpselect.cli.progress import scan_progress
from dpselect.cli.question_options import GroupOptions
from dpselect.cli.streams import refuse_readers
from dpselect.summaries import CandidateKind

ALL_TOGETHER = GroupOptions()


def check(
    source: File,
    column: str,
    /,
    *,
    unit: str,
    candidates: Text | None = None,
    candidates_as: CandidateKind | None = None,
    bounds: Bounds | None = None,
    step: Step | None = None,
    groups: GroupOptions = ALL_TOGETHER,
    written: FormatOptions = AS_USUAL,
    memory_limit: str | None = None,
    to_file_i_keep_private: Flag = False,
) -> None:
    """Count what a question would read of a table and what it would leave out, and why. For the holder only.

    dpselect check adult.csv age --unit person_id --bounds 0 120 --step 1

    The numbers are exact, not private: nothing is charged, and nothing is part of a
    certificate. With --candidates it is about these, otherwise about numbers. Only
    to a terminal.

    Args:
        source: CSV, Parquet or JSON lines file, or a quoted glob such as 'clicks/*.parquet'.
        column: Column of the question.
        unit: Column that identifies whom a row belongs to.
        candidates: Candidates of the question: 1..100, red,green,blue, @file or @codes.csv:column.
        candidates_as: Type of the candidates. Default: the column's type; for CSV, integers if all look like it.
        bounds: Bounds of the question.
        step: Step of the question.
        memory_limit: Memory limit for reading, such as 2GiB; what does not fit goes to a temporary folder.
        to_file_i_keep_private: Allow standard output to be a file or a pipe, which nobody else reads.
    """
    refuse_readers("check", "the numbers are exact", allowed=to_file_i_keep_private)
    import dpselect as dps

    format = written.format
    data = dps.Dataset(source, unit=unit, format=format)
    listed = None
    if candidates is not None:
        kinds = data.candidate_kinds(column)
        listed = public.parsed(candidates, kind=candidates_as, fitting=kinds, private=source)
    parts = groups.among(data, source)
    with scan_progress(wanted=True) as progress:
        found = dps.check(
            source,
            column,
            unit=unit,
            candidates=listed,
            bounds=bounds,
            step=step,
            by=parts["by"],
            groups=parts["groups"],
            format=format,
            memory_limit=memory_limit,
            progress=progress,
        )
    print(found)
