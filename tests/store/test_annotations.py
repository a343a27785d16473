"""What a person says about runs: limits, damage, two writers, and that runs stay as they are."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from glt.errors import ConfigError, StoreError
from glt.store import Annotation, Run, SeedRun, Store, bundled_examples, paths
from glt.store.annotations import LONGEST_TITLE, annotate, annotations_in


def test_a_title_stands_beside_the_run_and_not_in_it(store: Store, seed_run: SeedRun) -> None:
    folder = seed_run.path.parent
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    store.annotate(folder.name, {"title": "  wide\n net ", "color": "blue"})
    assert store.find(folder.name).annotation == Annotation(title="wide net", color="blue")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_fields_change_one_by_one_and_an_empty_one_is_taken_back(store: Store, run: Run) -> None:
    store.annotate(run.name, {"title": "mine", "note": "first line\nsecond"})
    store.annotate(run.name, {"hidden": True})
    assert store.annotations().of(run.name).as_json() == {"title": "mine", "note": "first line\nsecond", "hidden": True}
    store.annotate(run.name, {"title": "", "note": "", "hidden": False})
    assert store.annotations().entries == {}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"title": "x" * (LONGEST_TITLE + 1)}, "The title has 61 characters: at most 60 are allowed."),
        ({"note": "x" * 2001}, "The note has 2001 characters: at most 2000 are allowed."),
        ({"color": "red; background: url(http://x)"}, "Unknown color"),
        ({"hidden": "perhaps"}, "hidden cannot be 'perhaps'"),
    ],
)
def test_what_cannot_be_said_is_one_sentence_and_changes_nothing(
    store: Store, run: Run, changes: dict[str, str], told: str
) -> None:
    store.annotate(run.name, {"title": "mine"})
    with pytest.raises(ConfigError, match=told):
        store.annotate(run.name, changes)
    assert store.annotations().of(run.name) == Annotation(title="mine")


def test_an_example_is_annotated_in_the_users_store(store: Store) -> None:
    store.annotate(bundled_examples()[0].name, {"title": "of the paper"})
    first = bundled_examples(annotated_in=store.root)[0]
    assert first.annotation.title == "of the paper"
    assert store.find(str(first.path)).annotation.title == "of the paper"
    assert bundled_examples()[0].annotation == Annotation()
    # What was read of a run is kept by the object, so it has to be the same one.
    assert bundled_examples(annotated_in=store.root)[0] is first


def test_a_damaged_file_is_told_and_moved_aside_by_the_next_change(store: Store, run: Run) -> None:
    file = store.root / paths.ANNOTATIONS
    for number in (1, 2):
        file.write_text('{"schema": 1, "runs": {"a": ')
        assert "annotations.json is damaged" in store.annotations().damage
        assert store.find(run.name).annotation == Annotation()
        _, told = store.annotate(run.name, {"title": "mine"})
        assert f"kept as annotations.json.damaged-{number}" in told
        assert (store.root / f"annotations.json.damaged-{number}").read_text() == '{"schema": 1, "runs": {"a": '
        assert store.annotations().entries == {run.name: Annotation(title="mine")}


def test_what_of_an_entry_can_be_read_is_read_and_others_stay(store: Store, run: Run) -> None:
    store.annotate(run.name, {"title": "mine"})
    file = store.root / paths.ANNOTATIONS
    document = json.loads(file.read_text())
    document["runs"] |= {"odd": {"title": "kept", "color": "plaid"}, "later": {"title": "x", "stars": 3}, "none": 7}
    file.write_text(json.dumps(document))
    found = store.annotations()
    assert found.of("odd") == Annotation(title="kept")
    assert "odd, none that cannot be read" in found.damage
    store.annotate(run.name, {"note": "more"})
    after = json.loads(file.read_text())["runs"]
    assert after.pop(run.name) == {"title": "mine", "note": "more"}
    assert after == {"odd": {"title": "kept", "color": "plaid"}, "later": {"title": "x", "stars": 3}, "none": 7}
    store.annotate("later", {"title": "y"})
    assert json.loads(file.read_text())["runs"]["later"] == {"title": "y", "stars": 3}


def test_a_newer_file_is_left_alone(store: Store, run: Run) -> None:
    file = store.root / paths.ANNOTATIONS
    file.write_text('{"schema": 99, "runs": {}}')
    assert "newer GLT Studio" in store.annotations().damage
    with pytest.raises(StoreError, match="newer GLT Studio"):
        store.annotate(run.name, {"title": "mine"})
    assert file.read_text() == '{"schema": 99, "runs": {}}'


def test_a_store_for_reading_is_not_annotated(store: Store, run: Run) -> None:
    with pytest.raises(StoreError, match="read-only"):
        Store(store.root, writable=False).annotate(run.name, {"title": "mine"})


def test_two_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from glt.store.annotations import annotate\n"
        "for number in range(15): annotate(Path(sys.argv[1]), f'{sys.argv[2]}-{number}', {'title': sys.argv[2]})"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), name]) for name in ("one", "two")]
    assert [writer.wait(timeout=1800) for writer in writers] == [0, 0]
    found = annotations_in(tmp_path).entries
    assert {name: said.title for name, said in found.items()} == {
        f"{name}-{number}": name for name in ("one", "two") for number in range(15)
    }


def test_two_tabs_lose_nothing_of_each_other(tmp_path: Path) -> None:
    def write(name: str) -> None:
        for number in range(15):
            annotate(tmp_path, f"{name}-{number}", {"hidden": True})

    writers = [threading.Thread(target=write, args=(name,)) for name in ("one", "two", "three")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(annotations_in(tmp_path).entries) == 45
