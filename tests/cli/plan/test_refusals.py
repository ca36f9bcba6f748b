"""What ``dpselect plan`` refuses: one line on standard error, exit status 2, nothing on standard output."""

from __future__ import annotations

import pytest

from tests.cli.plan.commands import Captured, run

COUNT = ["--candidates-count", "10"]
BAD: list[tuple[list[str], str]] = [
    ([], "--candidates-count is required. Number of candidates."),
    (["--candidates-count", "0"], "--candidates-count=0: expected a whole number >= 1"),
    (["--candidates-count", "-5"], "--candidates-count=-5"),
    (["--candidates-count", "nan"], "--candidates-count='nan': expected a whole number"),
    (["--candidates-count", "inf"], "'inf': expected a whole number"),
    (["--candidates-count", "2.7"], "'2.7': expected a whole number"),
    (["--candidates-count", "ten"], "'ten': expected a whole number"),
    (["--candidates-count", ""], "'': expected a whole number"),
    (["--candidates-count", "1e99999999999"], "a whole number"),
    (["--candidates-count", str(2**63)], f"at most {2**63 - 1}"),
    (["--candidates-count", "1" * 5000], "--candidates-count=<5000 characters>: expected a whole number"),
    ([*COUNT, "--candidates-count", "11"], "--candidates-count"),
    (["--candidates-count"], "--candidates-count needs a value"),
    ([*COUNT, "--sensitivity", "0"], "sensitivity=0.0"),
    ([*COUNT, "--sensitivity", "nan"], "sensitivity=nan"),
    ([*COUNT, "--sensitivity", "-1"], "sensitivity=-1.0"),
    ([*COUNT, "--epsilon", "0"], "epsilon=0.0: expected a finite number > 0"),
    ([*COUNT, "--epsilon", "1,-1"], "epsilon=-1.0"),
    ([*COUNT, "--epsilon", "nan"], "epsilon=nan"),
    ([*COUNT, "--epsilon", "inf"], "epsilon=inf"),
    ([*COUNT, "--epsilon", "one"], "--epsilon"),
    ([*COUNT, "--epsilon"], "--epsilon needs a value"),
    ([*COUNT, "--epsilon", "0.1", "1"], "'1'"),
    ([*COUNT, "--confidence", "1"], "confidence=1.0: expected a number strictly between 0 and 1"),
    ([*COUNT, "--confidence", "0"], "confidence=0.0"),
    ([*COUNT, "--confidence", "nan"], "confidence=nan"),
    ([*COUNT, "--confidence", "99"], "confidence=99.0"),
    ([*COUNT, "--expected-error", "0"], "--expected-error=0.0"),
    ([*COUNT, "--expected-error", "-1"], "--expected-error=-1.0"),
    ([*COUNT, "--expected-error", "nan"], "--expected-error=nan"),
    (["--candidates-count", "1", "--expected-error", "1"], "one candidate is always the best"),
    ([*COUNT, "--within", "0"], "within=0.0"),
    ([*COUNT, "--within", "inf"], "within=inf"),
    ([*COUNT, "--json=perhaps"], "--json"),
    ([*COUNT, "--no-monotonic"], "--no-monotonic"),
    ([*COUNT, "--unit", "session"], "--unit"),
    ([*COUNT, "clicks.csv"], "clicks.csv"),
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("arguments", "reason"), BAD)
def test_bad_input_is_one_line_and_status_two(capsys: Captured, arguments: list[str], reason: str) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("dpselect: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert reason in err
    assert "Traceback" not in err
