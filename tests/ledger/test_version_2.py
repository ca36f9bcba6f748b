"""A ledger and certificates that version 2 wrote, fine times and all: they are read, go on, and verify for ever.

``version_2/`` holds what that version wrote: the database as SQL, and five certificates, the first of them under a
request.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

import dpselect as dps
from dpselect.certificates import check
from dpselect.certificates.release import Release, canonical_json, digest
from dpselect.cli import main
from dpselect.errors import InvalidCertificateError, RequestReusedError
from dpselect.ledger import Ledger, schema
from tests.ledger.tampering import by_hand, engine_of

FOLDER = Path(__file__).parent / "version_2"
CERTIFICATES = (FOLDER / "certificates.jsonl").read_text(encoding="utf-8").splitlines()
EVENT = dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event
HEAD = "f9ecc64ddc4092272d554acf08dfd89a72db4044d640df0629aa765d494120c4"
"""The last hash of its account ``pets``."""


@pytest.fixture
def old(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The database as version 2 left it; on PostgreSQL its tables by the steps of that version, and the same rows."""
    script = (FOLDER / "ledger.sql").read_text(encoding="utf-8")
    if url.startswith("sqlite"):
        statements = script.removeprefix("BEGIN TRANSACTION;\n").removesuffix("COMMIT;\n").split(";\n")
        by_hand(url, *filter(None, statements))
        return url
    with monkeypatch.context() as older:
        older.setattr(schema, "CURRENT", 2)
        with Ledger(url) as ledger:
            schema.migrate(ledger._database, create=True)
    rows = [line.removesuffix(";") for line in script.splitlines() if line.startswith("INSERT INTO")]
    by_hand(url, *(row for row in rows if "dpselect_migrations" not in row))
    return url


def versions(url: str) -> list[int]:
    engine = engine_of(url)
    with engine.connect() as connection:
        found = connection.execute(sa.text("SELECT version FROM dpselect_migrations ORDER BY version")).scalars().all()
    engine.dispose()
    return [*found]


def test_an_old_ledger_is_read_as_it_is(old: str) -> None:
    with Ledger(old) as ledger:
        assert [(each.account, each.entries) for each in ledger.verify()] == [("pets", 8), ("old", 2)]
        assert ledger.account("pets").head == HEAD
        assert not ledger.account("old").is_open
        assert [entry.kind for entry in ledger.history("pets")] == ["open", *["charge"] * 6, "limit"]
        assert all("nonce" not in json.loads(line)["entry"] for line in ledger.export())
    assert versions(old) == [1, 2]


def test_its_first_charge_brings_it_up_to_date_and_its_entries_stay(old: str) -> None:
    with Ledger(old) as ledger:
        before = [*ledger.export()]
        spent = ledger.account("pets").spent
        receipt = ledger.charge("pets", EVENT, request="new")
        assert versions(old) == [1, 2, 3, 4, 5]
        assert receipt.sequence == 8
        assert [line for line in ledger.export() if '"new"' not in line] == before
        assert ledger.account("pets").spent > spent
        *older, newest = ledger.history("pets")
        assert ["nonce" in entry.body for entry in [*older, newest]] == [False] * 8 + [True]
        assert [each.entries for each in ledger.verify()] == [9, 2]


def test_its_requests_are_answered_for_nothing(old: str) -> None:
    """One was asked by hand, the other of a table; and each refuses another question."""
    rows = {"person": [1, 2, 3, 4, 5, 6], "pet": ["cat", "cat", "cat", "dog", "dog", "emu"]}
    with Ledger(old) as ledger:
        people = dps.Dataset(pa.table(rows), unit="person", ledger=ledger, account="pets")
        asked: dict[str, Any] = {"candidates": ["cat", "dog", "emu"], "epsilon": 0.5, "request": "november"}
        for _ in range(2):  # of the old ledger, and of the migrated one
            assert people.most_common("pet", **asked).to_json() == CERTIFICATES[0]
            assert ledger.look("pets", EVENT, request="by hand", question="best pet").release == "answer"
            with pytest.raises(RequestReusedError):
                people.most_common("pet", **asked | {"candidates": ["cat", "dog"]})
            with pytest.raises(RequestReusedError):
                ledger.look("pets", EVENT, request="by hand", question="worst pet")
            ledger.charge("pets", EVENT)
        again = ledger.charge("pets", EVENT, request="by hand", question="best pet")
        assert (again.sequence, again.release) == (6, "answer")
        assert ledger.account("pets").entries == 10


@pytest.mark.parametrize("migrated", [False, True])
@pytest.mark.parametrize("number", range(len(CERTIFICATES)))
def test_its_certificates_verify_as_far_as_before(old: str, number: int, migrated: bool) -> None:
    text = CERTIFICATES[number]
    release = Release.from_json(text)
    assert release.to_json() == text
    assert release.time.microsecond == 0
    with Ledger(old) as ledger:
        if migrated:
            ledger.charge("pets", EVENT)
        alone, charged = check(text), check(text, ledger=ledger)
    has_bound = release.task in ("most_common", "top_k", "best_by")  # a list of prices did not say enough for one
    assert (alone.error_bound, alone.charged, alone.question, alone.value) == (has_bound, None, False, False)
    assert (charged.error_bound, charged.charged, charged.question, charged.value) == (
        has_bound,
        True,
        False,
        number == 0,
    )


def test_an_old_certificate_with_another_time_is_refused_by_its_ledger(old: str) -> None:
    """Its column is not, for all that the ledger knows; a hash of it that the ledger has not is no help."""
    held = json.loads(CERTIFICATES[1])
    edited = copy.deepcopy(held)
    edited["receipt"]["time"] = "2026-11-22T00:00:00.000+00:00"
    with Ledger(old) as ledger:
        with pytest.raises(InvalidCertificateError, match=r"<receipt\.time>"):
            check(rewritten(edited), ledger=ledger)
        assert check(rewritten(held | {"column": "height"}), ledger=ledger).question is False
        edited = copy.deepcopy(held)
        edited["receipt"]["question"] = "0" * 64
        with pytest.raises(InvalidCertificateError, match=r"<receipt\.question>"):
            check(rewritten(edited), ledger=ledger)


def rewritten(held: dict[str, Any]) -> str:
    return canonical_json(held | {"digest": digest(held)})


def test_the_command_line_says_what_an_old_certificate_does_not_hold(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "release.json"
    path.write_text(CERTIFICATES[1])
    said = "The question cannot be compared with the ledger: the receipt has no hash of it."
    assert main(["verify", str(path), "--ledger", old]) == 0
    assert said in capsys.readouterr().out
    assert main(["verify", str(path), "--ledger", old, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["question"] is False
