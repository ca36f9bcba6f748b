"""Tables of Delta and Iceberg through their own libraries: the rows that are left, and what is refused."""

from __future__ import annotations

import base64
import json
import struct
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table import DataScan, FileScanTask, StaticTable
from pyiceberg.types import LongType, StringType

import dpselect as dps
from dpselect import verify as check
from dpselect.cli import main
from dpselect.errors import InvalidDataError, InvalidParameterError, MissingExtraError, RequestReusedError
from tests.formats.reading import counts, numbers

ROWS = pa.table(
    {
        "unit": pa.array([1, 2, 3, 4, 5, None], pa.int32()),
        "value": pa.array([7, 7, 8, None, 9, 7], pa.int64()),
        "name": ["a", "b", "b", "a", None, "a"],
    }
)


def write(folder: Path, rows: pa.Table = ROWS, **options: Any) -> DeltaTable:
    """One more version of a Delta table; the first one if there is none."""
    write_deltalake(folder, rows, **options)
    return DeltaTable(folder)


def the_file(folder: Path) -> Path:
    """The only file with rows."""
    (found,) = folder.glob("*.parquet")
    return found


def rewritten(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The first entries of the log, each after a change."""
    log = folder / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        change(action)
    log.write_text("\n".join(map(json.dumps, actions)))


def with_deleted_row(folder: Path, row: int = 1) -> Path:
    """The table of `ROWS` in one file, and a deletion vector in its log that takes one of them out."""
    write(folder)
    bitmap = struct.pack("<IIHHIH", 12346, 1, 0, 0, 16, row)
    vector = struct.pack("<iqi", 1681511377, 1, 0) + bitmap
    vector += b"\0" * (-len(vector) % 4)
    entry = {
        "storageType": "i",
        "pathOrInlineDv": base64.b85encode(vector).translate(_Z85).decode(),
        "sizeInBytes": len(vector),
        "cardinality": 1,
    }

    def change(action: dict[str, Any]) -> None:
        if "protocol" in action:
            action["protocol"] = {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": ["deletionVectors"],
                "writerFeatures": ["deletionVectors"],
            }
        if "add" in action:
            action["add"]["deletionVector"] = entry

    rewritten(folder, change)
    return folder


_PYTHONS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_DELTAS = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_Z85 = bytes.maketrans(_PYTHONS, _DELTAS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a table whose name is not the same in a URL."""
    return tmp_path / "new orders"


@pytest.fixture
def catalogue(tmp_path: Path) -> InMemoryCatalog:
    """A catalogue of Iceberg tables in this process."""
    made = InMemoryCatalog("here", warehouse=f"file://{tmp_path / 'warehouse'}")
    made.create_namespace("shop")
    return made


def iceberg(catalogue: InMemoryCatalog, rows: pa.Table = ROWS) -> Any:
    table = catalogue.create_table("shop.orders", schema=rows.schema)
    table.append(rows)
    return table


Open = Callable[[Path], Any]
WAYS: dict[str, Open] = {"folder": str, "path": lambda folder: folder, "table": DeltaTable}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("way", WAYS)
def test_a_delta_table_has_the_rows_that_are_left(way: str, folder: Path) -> None:
    write(folder, partition_by=["name"]).delete("value = 8")
    more = pa.table({"unit": pa.array([8, 9], pa.int32()), "name": ["c", "a"], "new": ["x", None]})
    write(folder, more, mode="append", schema_mode="merge")
    given = WAYS[way](folder)
    assert counts(given, [7, 8, 9]) == [2, 0, 1]
    assert counts(given, ["a", "b", "c"], column="name") == [3, 1, 1]
    assert counts(given, ["x", "y"], column="new") == [1, 0]
    assert numbers(given, None, bounds=(0, 10)) == [7, 7, 9]


def test_a_folder_is_read_at_its_newest_version_and_a_table_at_its_own(folder: Path) -> None:
    table = write(folder)
    by_path, by_table = (dps.Dataset(each, unit="unit") for each in (folder, table))
    write(folder, ROWS.slice(0, 1), mode="overwrite")
    assert [each.count(epsilon=1000.0).value for each in (by_path, by_table)] == [1, 5]
    assert dps.Dataset(DeltaTable(folder, version=0), unit="unit").count(epsilon=1000.0).value == 5


def test_rows_under_a_deletion_vector_do_not_count(folder: Path) -> None:
    given = str(with_deleted_row(folder))
    assert counts(given, [7, 8, 9]) == [1, 1, 1]
    assert counts(DeltaTable(folder), [7, 8, 9]) == [1, 1, 1]
    assert dps.Dataset(given, unit="unit").count(epsilon=1000.0).value == 4


def test_text_beside_deletion_vectors_is_refused_by_its_type(folder: Path) -> None:
    """Its reader would stop at one text that is not UTF-8."""
    with_deleted_row(folder)
    with pytest.raises(InvalidDataError, match=r"'name'.*deletion vectors.*not UTF-8.*REORG TABLE"):
        dps.Dataset(folder, unit="unit").most_common("name", candidates=["a"], epsilon=1.0)
    with pytest.raises(InvalidDataError, match=r"unit='name'.*deletion vectors"):
        dps.Dataset(folder, unit="name")


def test_mapped_columns_are_found_under_their_names(folder: Path) -> None:
    write(folder, ROWS.rename_columns(["c1", "c2", "c3"]))
    names = dict(zip(["c1", "c2", "c3"], ROWS.column_names, strict=True))

    def change(action: dict[str, Any]) -> None:
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}
        if "metaData" in action:
            schema = json.loads(action["metaData"]["schemaString"])
            for number, field in enumerate(schema["fields"], 1):
                mapped = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": field["name"]}
                field |= {"name": names[field["name"]], "metadata": mapped}
            action["metaData"]["schemaString"] = json.dumps(schema)
            action["metaData"]["configuration"] = {"delta.columnMapping.mode": "name"}

    rewritten(folder, change)
    assert counts(str(folder), [7, 8, 9]) == [2, 1, 1]
    with pytest.raises(InvalidDataError, match=r"mapped columns"):
        counts(str(folder), ["a"], column="name")


def test_text_that_is_not_utf_8_is_left_out(folder: Path) -> None:
    write(folder)
    broken = pa.Array.from_buffers(pa.string(), 6, pa.array([b"a", b"\xff", b"b", b"a", None, b"a"]).buffers())
    pq.write_table(ROWS.set_column(2, "name", broken), the_file(folder))
    sized(folder)
    assert counts(str(folder), ["a", "b"], column="name") == [2, 1]


def sized(folder: Path) -> None:
    """The log says how long the file is now."""

    def change(action: dict[str, Any]) -> None:
        if "add" in action:
            action["add"]["size"] = the_file(folder).stat().st_size

    rewritten(folder, change)


def test_files_of_other_types_than_the_log_says_are_refused(folder: Path) -> None:
    """Arrow would convert the values, and stop at one that does not fit."""
    write(folder)
    pq.write_table(ROWS.set_column(1, "value", ROWS["value"].cast(pa.float64())), the_file(folder))
    sized(folder)
    with pytest.raises(InvalidDataError, match=r"files with the types of the table's schema"):
        counts(str(folder), [7])
    assert counts(str(folder), ["a"], column="name") == [2]


def test_what_is_gone_or_damaged_is_said_without_its_path(folder: Path) -> None:
    table = write(folder)
    asked = dps.Dataset(table, unit="unit")
    name = the_file(folder).name
    the_file(folder).unlink()
    with pytest.raises(InvalidDataError, match=r"<Delta table>.*damaged or gone") as refused:
        asked.count(epsilon=1.0)
    assert name not in str(refused.value)
    assert refused.value.__context__ is None
    (folder / "_delta_log" / f"{0:020}.json").write_text("{")
    with pytest.raises(InvalidDataError, match=r"log is damaged"):
        dps.Dataset(folder, unit="unit")


@pytest.mark.parametrize("name", ["or[d]ers", "orders*", "x#y", "q?x", "année", "7%20"])
def test_a_folder_of_any_name_is_read_or_refused_in_our_words(name: str, folder: Path) -> None:
    write(folder)
    odd = folder.rename(folder.with_name(name))
    if "%2" in name:
        with pytest.raises(InvalidDataError, match=r"deltalake can read.*a % sign"):
            dps.Dataset(odd, unit="unit")
    else:
        assert counts(str(odd), [7, 8, 9]) == [2, 1, 1]


def test_changed_columns_are_refused(folder: Path, catalogue: InMemoryCatalog) -> None:
    write(folder)
    asked = dps.Dataset(folder, unit="unit")
    write(folder, ROWS.drop_columns("value"), mode="overwrite", schema_mode="overwrite")
    assert asked.count(epsilon=1000.0).value == 5
    with pytest.raises(InvalidDataError, match=r"changed since"):
        asked.most_common("value", candidates=[7, 8], epsilon=1.0)
    table = iceberg(catalogue)
    asked = dps.Dataset(table, unit="unit")
    with table.update_schema() as update:
        update.delete_column("value")
        update.add_column("new", StringType())
    assert asked.count(epsilon=1000.0).value == 5
    with pytest.raises(InvalidDataError, match=r"changed since"):
        asked.most_common("value", candidates=[7, 8], epsilon=1.0)


def test_times_and_nested_values_are_refused_only_if_asked(folder: Path, catalogue: InMemoryCatalog) -> None:
    rows = ROWS.append_column("when", pa.array([0] * 6, pa.timestamp("us"))).append_column("list", pa.array([[1]] * 6))
    for given in (write(folder, rows), iceberg(catalogue, rows)):
        assert counts(given, [7]) == [2]
        for column, held in (("when", "times"), ("list", "nested values")):
            with pytest.raises(InvalidDataError, match=f"'{column}'.*{held}"):
                dps.Dataset(given, unit="unit").median(column, bounds=(0, 1), step=1, epsilon=1.0)


def test_fields_of_structs_are_read(folder: Path, catalogue: InMemoryCatalog) -> None:
    rows = pa.table(
        {"unit": [1, 2, 3], "address": [{"city": "a", "no": 1}, {"city": "b", "no": 2}, {"city": "a", "no": 4}]}
    )
    for given in (write(folder, rows), iceberg(catalogue, rows)):
        assert counts(given, ["a", "b"], column="address.city") == [2, 1]
        assert dps.Dataset(given, unit="unit").median("address.no", bounds=(0, 4), step=1, epsilon=1000.0).value == 2


def test_what_is_not_for_such_tables_is_refused(folder: Path) -> None:
    write(folder)
    with pytest.raises(InvalidParameterError, match=r"delimiter"):
        dps.Dataset(folder, unit="unit", format=dps.Format(delimiter=";"))
    assert counts(str(folder), ["A"], dps.Format(ignore_case=True), column="name") == [2]


def test_the_extra_is_named_if_it_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder)
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(MissingExtraError, match=r"Delta tables.*\[delta\]"):
        dps.Dataset(folder, unit="unit")


def test_certificates_and_ledgers_know_the_table(folder: Path, catalogue: InMemoryCatalog, tmp_path: Path) -> None:
    named = {"folder": write(folder), "shop": iceberg(catalogue)}
    static = StaticTable.from_metadata(named["shop"].metadata_location)
    expected: list[tuple[Any, dict[str, Any]]] = [
        (folder, {"files": [folder.name]}),
        (named["folder"], {"table": folder.name}),
        (named["shop"], {"table": "shop.orders"}),
        (static, {"frame": "Iceberg table"}),
    ]
    for given, source in expected:
        release = dps.Dataset(given, unit="unit").count(epsilon=1.0)
        assert release.source is not None
        assert {**release.source, "schema": None} == {**source, "schema": None}
        check(release.to_json())
        assert str(tmp_path) not in release.to_json()


def changed_delta(folder: Path, catalogue: InMemoryCatalog) -> Iterable[Any]:
    yield write(folder)
    yield write(folder, ROWS.slice(0, 1), mode="append")


def changed_iceberg(folder: Path, catalogue: InMemoryCatalog) -> Iterable[Any]:
    table = iceberg(catalogue)
    yield table
    table.append(ROWS)
    yield catalogue.load_table("shop.orders")


@pytest.mark.parametrize("versions", [changed_delta, changed_iceberg])
def test_a_version_is_a_table_of_its_own_to_a_ledger(
    versions: Callable[[Path, InMemoryCatalog], Iterable[Any]], folder: Path, catalogue: InMemoryCatalog, tmp_path: Path
) -> None:
    with dps.Ledger(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger:
        ledger.open_account("shop", epsilon=10, unit="unit")
        opened = iter(versions(folder, catalogue))
        first = dps.Dataset(next(opened), unit="unit", ledger=ledger, account="shop")
        again = [first.count(epsilon=1.0, request="a").value for _ in range(2)]
        assert again[0] == again[1]
        assert ledger.remaining("shop") == 9
        after = dps.Dataset(next(opened), unit="unit", ledger=ledger, account="shop")
        with pytest.raises(RequestReusedError):
            after.count(epsilon=1.0, request="a")


def test_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder)
    question = ["most-common", str(folder), "value", "--unit", "unit", "--candidates", "7..9", "--epsilon", "1000"]
    assert main([*question, "--quiet"]) == 0
    assert capsys.readouterr().out.strip() == "7"


def test_an_iceberg_table_has_the_rows_that_are_left(catalogue: InMemoryCatalog) -> None:
    table = iceberg(catalogue)
    with table.update_schema() as update:
        update.update_column("unit", LongType())
        update.rename_column("value", "amount")
        update.add_column("new", StringType())
    more = pa.table({"unit": [2**40, 9], "amount": [7, 9], "name": ["c", "a"], "new": ["x", None]})
    table.append(more)
    table.delete("amount == 8")
    assert counts(table, [7, 8, 9], column="amount") == [3, 0, 2]
    assert counts(table, ["a", "b", "c"], column="name") == [3, 1, 1]
    assert counts(table, ["x", "y"], column="new") == [1, 0]
    assert counts(StaticTable.from_metadata(table.metadata_location), [7, 8, 9], column="amount") == [3, 0, 2]


def test_one_data_file_is_read_at_a_time(catalogue: InMemoryCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    table = iceberg(catalogue)
    table.append(ROWS)
    together: list[int] = []
    read = ArrowScan.to_record_batches

    def noted(self: ArrowScan, tasks: Iterable[FileScanTask]) -> Any:
        listed = list(tasks)
        together.append(len(listed))
        return read(self, listed)

    monkeypatch.setattr(ArrowScan, "to_record_batches", noted)
    assert counts(table, [7, 8]) == [2, 1]
    assert together == [1, 1]


def with_deletes(monkeypatch: pytest.MonkeyPatch, deletes: DataFile) -> None:
    planned = DataScan.plan_files

    def found(self: DataScan) -> list[FileScanTask]:
        return [FileScanTask(task.file, delete_files={deletes}) for task in planned(self)]

    monkeypatch.setattr(DataScan, "plan_files", found)


def test_positions_that_were_deleted_do_not_count(
    catalogue: InMemoryCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = iceberg(catalogue)
    (task,) = table.scan().plan_files()
    path = tmp_path / "deletes.parquet"
    pq.write_table(pa.table({"file_path": [task.file.file_path], "pos": pa.array([1], pa.int64())}), path)
    deletes = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=f"file://{path}",
        file_format=FileFormat.PARQUET,
        record_count=1,
        file_size_in_bytes=path.stat().st_size,
    )
    with_deletes(monkeypatch, deletes)
    assert counts(table, [7, 8, 9]) == [1, 1, 1]


def test_deletes_that_pyiceberg_cannot_apply_are_refused(
    catalogue: InMemoryCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = iceberg(catalogue)

    def refused(self: DataScan) -> list[FileScanTask]:
        raise ValueError("PyIceberg does not yet support equality deletes: somebody's row")

    monkeypatch.setattr(DataScan, "plan_files", refused)
    with pytest.raises(InvalidDataError, match=r"<Iceberg table>.*equality deletes.*rewrite_data_files") as said:
        dps.Dataset(table, unit="unit")
    assert "somebody" not in str(said.value)


def test_the_folder_of_an_iceberg_table_needs_its_catalogue(catalogue: InMemoryCatalog) -> None:
    table = iceberg(catalogue)
    with pytest.raises(InvalidDataError, match=r"part of an Iceberg table.*catalog\.load_table"):
        dps.Dataset(table.location().removeprefix("file://"), unit="unit")
