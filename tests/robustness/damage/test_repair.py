"""The doctor names and repairs damage and changes nothing else; resuming then gives the bytes of an undamaged run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.doctor import examine, examine_store, repair
from glt.errors import StoreError
from glt.store import Run, State, Status, Store
from glt.store.recovery import is_usable
from tests.robustness.damage.commands import Damage, damages, run_command
from tests.robustness.damage.conftest import compute

ALL = os.environ.get("GLT_DAMAGE") == "all"
Copy = Callable[[], Store]
EVERY = damages()
# No process has this id.
GONE = 2**22 + 1
EXEMPT = {"lock", "log.txt", "status.json", "environment.json"}
# A file of seed 0 and what happens to it.
CASES: dict[str, tuple[str, Damage]] = {
    "masks": ("round-01.safetensors", EVERY["flip 1"]),
    "weights": ("weights-02.safetensors", EVERY["removed"]),
    "weights as a folder": ("weights-01.safetensors", EVERY["folder"]),
    "theta_0": ("init.safetensors", EVERY["noise"]),
    "record": ("rounds.jsonl", EVERY["flip 4"]),
    "last records": ("rounds.jsonl", EVERY["cut to 3/8"]),
    "no records": ("rounds.jsonl", EVERY["dangling link"]),
    "epochs": ("events.jsonl", EVERY["flip 2"]),
    "no epochs": ("events.jsonl", EVERY["removed"]),
    "checksums": ("checksums.jsonl", EVERY["flip 1"]),
    "unreadable checksums": ("checksums.jsonl", EVERY["unreadable"]),
}


def files(run: Run, seed: int) -> dict[str, object]:
    """Return the bytes of a seed's files, and its records without the seconds they took."""
    folder = run.path / f"seed-{seed}"
    found: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in EXEMPT}
    lines = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    return {**found, "rounds.jsonl": [{**line, "seconds": 0} for line in lines]}


def doctor(store: Store, *arguments: str) -> int:
    return run_command("glt", ["doctor", *arguments, "--store", str(store.root)]).code


@pytest.mark.parametrize("case", CASES)
def test_repaired_and_resumed_gives_the_same_bytes(copy: Copy, case: str) -> None:
    store, (name, damage) = copy(), CASES[case]
    run = store.runs()[0]
    expected, other = files(run, 0), files(run, 1)
    damage(run.path / "seed-0" / name)
    assert doctor(store, run.name) == 1
    before = {path.read_bytes() for path in run.path.rglob("*") if is_usable(path) and path.name not in EXEMPT}
    assert doctor(store, run.name, "--mend") == 0
    assert doctor(store, run.name) == 0
    after = {path.read_bytes() for path in run.path.rglob("*") if is_usable(path)}
    assert before <= after, "something was deleted"
    compute(run.seed(0))
    assert files(run, 0) == expected
    assert files(run, 1) == other
    if name in ("round-01.safetensors", "init.safetensors"):
        # A resume alone repairs what can be computed again.
        damage(run.path / "seed-0" / name)
        assert not run.seed(0).is_sound()
        compute(run.seed(0))
        assert files(run, 0) == expected
        assert run.seed(0).is_sound()


def everything() -> list[tuple[str, str]]:
    names = [case[0] for case in CASES.values()] + ["environment.json", "status.json", "log.txt", "lock"]
    kinds = list(EVERY) if ALL else ["cut to 4/8", "folder", "dangling link"]
    # One of the first bytes marks a document as signed.
    more = [] if ALL else [("checksums.jsonl", "removed"), ("environment.json", "flip 1")]
    return [*((name, kind) for name in dict.fromkeys(names) for kind in kinds), *more]


@pytest.mark.parametrize(("name", "kind"), everything())
def test_every_damage_is_named_and_repaired(copy: Copy, name: str, kind: str) -> None:
    store = copy()
    run = store.runs()[0]
    EVERY[kind](run.path / "seed-0" / name)
    looked = examine(run.path)
    # Log and lock may hold anything; without an environment there is nothing to compare.
    harmless = name in ("log.txt", "lock") or (name, kind) == ("environment.json", "removed")
    if not looked.findings:
        assert harmless
        return
    assert looked.findings[0].path.name == name
    assert "\n" not in looked.findings[0].sentence
    repair(looked)
    assert not examine(run.path).findings
    assert run.seed(1).is_sound()
    run.seed(0).drop_unfinished()


def test_leftover_files_are_moved(copy: Copy) -> None:
    store = copy()
    assert [looked.findings for looked in examine_store(store)] == [(), (), ()]
    assert doctor(store) == 0
    run = store.runs()[0]
    seed = run.seed(0)
    # Writes in progress, here or on another host, are not leftovers.
    write(run.path / f".config.json.{os.getpid()}-1.writing")
    (store.root / ".annotations.json.4194305-1.writing").write_text("a process that is not seen from here")
    left = [
        seed.path / f".round-03.safetensors.{GONE}-1.writing",
        seed.path / "weights-03.safetensors",
        run.path / f".config.json.{GONE}-2.writing",
        store.root / f".annotations.json.{GONE}-3.writing",
        store.queue_folder() / f"{0:020d}-1-2.ticket",
    ]
    for path in left:
        write(path, "left")
    with (seed.path / "events.jsonl").open("ab") as file:
        file.write(b'{"round":3,"sta')
    looked = list(examine_store(store))
    found = {finding.path for each in looked for finding in each.findings}
    assert found == {*left, seed.path / "events.jsonl"}
    for each in looked:
        repair(each)
    assert not any(path.exists() for path in left)
    assert doctor(store) == 0
    assert str(run.path / "set-aside") in run_command("glt", ["doctor", "--store", str(store.root)]).out
    kept = [path for path in store.root.rglob("*") if path.is_file() and path.read_bytes() == b"left"]
    assert {path.name for path in kept} == {path.name for path in left}
    assert seed.is_sound()


@pytest.mark.parametrize(
    ("state", "wrong"),
    [
        ("failed", "says failed, but everything is complete"),
        ("stopped", "says stopped, but everything is complete"),
        ("running", f"says running, but process {GONE} no longer exists"),
    ],
)
def test_a_seed_with_all_rounds_is_done(copy: Copy, state: State, wrong: str) -> None:
    run = copy().runs()[0]
    run.seed(0).write_status(Status(state=state, seed=0, pid=GONE, process_started=1.0, threads=3, error="edited"))
    (finding,) = examine(run.path).findings
    assert finding.wrong == wrong
    repair(examine(run.path))
    assert run.seed(0).status() == Status(state="done", seed=0, threads=1)
    assert examine(run.path).findings == ()


def test_a_running_seed_is_not_repaired(copy: Copy) -> None:
    store = copy()
    run = store.runs()[0]
    (run.path / "seed-0" / ".round-03.safetensors.99-1.writing").write_bytes(b"at work")
    with run.seed(0).lock():
        looked = examine(run.path)
    assert looked.busy == (0,)
    assert not looked.findings


def test_a_renamed_folder_is_reported_with_its_name(copy: Copy) -> None:
    store = copy()
    run = store.runs()[0]
    renamed = run.path.rename(store.root / "my best run")
    (finding,) = examine(renamed).findings
    assert run.name in finding.then
    assert f"rename the folder back to {run.name}" in run_command("glt", ["list", "--store", str(store.root)]).err
    assert doctor(store, "my best run", "--mend") == 1
    renamed.rename(run.path)
    assert doctor(store, run.name) == 0


def test_the_same_settings_restore_a_lost_config(copy: Copy) -> None:
    store = copy()
    run = store.runs()[0]
    config = run.path / "config.json"
    # Settings outside the name are checked too.
    config.write_bytes(config.read_bytes().replace(b'"rounds":2', b'"rounds":1'))
    with pytest.raises(StoreError, match="checksum"):
        Run.open(run.path)
    assert "damaged" in examine(run.path).findings[0].wrong
    repair(examine(run.path))
    assert ["is missing" in finding.wrong for finding in examine(run.path).findings] == [True]
    again = store.create(run.config)
    assert again.seed(0).is_sound()
    assert not examine(run.path).findings
    (run.path / "seed-0" / "init.safetensors").unlink()
    with pytest.raises(StoreError, match="not the initialisation this version makes"):
        run.seed(0).write_init({name: values + 1 for name, values in run.seed(1).theta0().items()})


def test_damaged_annotations_are_repaired(copy: Copy) -> None:
    store = copy()
    EVERY["noise"](store.root / "annotations.json")
    (finding,) = list(examine_store(store))[-1].findings
    assert "are lost" in finding.then
    assert doctor(store, "--mend") == 0
    assert store.annotations().damage == ""


def test_a_store_of_an_earlier_version_without_checksums(copy: Copy) -> None:
    store = copy()
    for path in store.root.rglob("checksums.jsonl"):
        path.unlink()
    for path in [*store.root.rglob("config.json"), *store.root.rglob("environment.json")]:
        document = json.loads(path.read_text())
        del document["crc32"]
        path.write_text(json.dumps(document))
    assert doctor(store) == 0
    run = store.runs()[0]
    assert len(run.seed(0).rounds()) == 3
    run.seed(0).drop_unfinished()
    assert (run.path / "seed-0" / "checksums.jsonl").exists()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("pretrained.safetensors", EVERY["flip 1"]),
        ("pretrained.safetensors", EVERY["folder"]),
        ("pretrained.safetensors", EVERY["removed"]),
        ("events.jsonl", EVERY["flip 1"]),
    ],
)
def test_a_damaged_pretraining_restarts(copy: Copy, name: str, damage: Damage) -> None:
    store = copy()
    run = store.pretrainings()[0]
    path = run.path / "seed-0" / name
    damage(path)
    before = {path.read_bytes() for path in run.path.rglob("*") if is_usable(path) and path.name not in EXEMPT}
    assert not run.seed(0).is_sound()
    assert doctor(store, run.name) == 1
    assert doctor(store, run.name, "--mend") == 0
    assert before <= {path.read_bytes() for path in run.path.rglob("*") if is_usable(path)}
    assert run.seed(0).status().state == "stopped"
    assert doctor(store, run.name) == 0


def contents(root: Path) -> dict[Path, bytes]:
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def write(path: Path, text: str = "mine") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1, 1))


def test_a_folder_that_is_not_a_store_is_not_changed(tmp_path: Path) -> None:
    root = tmp_path / "holiday"
    for name in ("IMG_1.JPG", "film.part", "config.json", "2024/rounds.jsonl", "2024/seed-0/x", ".a.txt.1-1.writing"):
        write(root / name)
    for name in ("annotations.json", "2024/config.json", "bert/config.json"):
        write(root / name, json.dumps({"architectures": ["BertModel"]}))
    before = contents(root)
    answer = run_command("glt", ["doctor", "--mend", "--store", str(root)])
    assert answer.code == 1
    assert "is not a store" in answer.err
    assert contents(root) == before
    assert not (root / ".set-aside").exists()


def test_the_only_run_of_a_store_can_be_renamed_back(copy: Copy) -> None:
    store = copy()
    kept, *others = store.runs()
    name = kept.name
    for folder in [*others, *store.pretrainings()]:
        shutil.rmtree(folder.path)
    kept.path.rename(store.root / "my-run")
    for beside in store.root.iterdir():
        if beside.name != "my-run":
            shutil.rmtree(beside) if beside.is_dir() else beside.unlink()
    answer = run_command("glt", ["doctor", "--mend", "--store", str(store.root)])
    assert f"rename the folder back to {name}" in " ".join((answer.out + answer.err).split())
    assert (store.root / "my-run" / "config.json").exists()


def test_files_of_other_programs_are_not_changed(copy: Copy) -> None:
    store = copy()
    run = store.runs()[0]
    write(store.root / "paper.tex")
    answer = run_command("glt", ["doctor", "--store", str(store.root)])
    assert answer.code == 0
    assert "paper.tex was not written by GLT Studio: it is not changed." in answer.out
    others = [
        store.root / "IMG_1.JPG",
        store.root / "draft.writing",
        store.root / ".thesis.tex.4194305-1.writing",
        run.path / "figure.png",
        run.path / "seed-0" / "notes.txt",
        run.path / "seed-0" / "draft.writing",
        store.root / "bert" / "seed-0" / "rounds.jsonl",
        store.root / "cora-node-gcn-ugs-0badcafe" / "seed-0" / "x",
        store.root / "my best run" / "seed-0" / "x",
    ]
    for path in others:
        write(path)
    for folder in ("bert", "cora-node-gcn-ugs-0badcafe"):
        write(store.root / folder / "config.json", json.dumps({"architectures": ["BertModel"]}))
    write(store.root / "my best run" / "config.json", "no JSON")
    write(store.root / "annotations.json", json.dumps({"images": [], "categories": []}))
    before = contents(store.root)
    run_command("glt", ["doctor", "--mend", "--store", str(store.root)])
    run.seed(0).drop_unfinished()
    assert {path: text for path, text in contents(store.root).items() if path in before} == before
    with pytest.raises(StoreError, match="was not written by GLT Studio"):
        store.annotate(run.name, {"title": "new"})


@pytest.mark.parametrize("place", ["seed-0", "."])
def test_files_behind_links_are_not_changed(copy: Copy, tmp_path: Path, place: str) -> None:
    store = copy()
    run = store.runs()[0]
    elsewhere = tmp_path / run.name
    shutil.move(run.path / place, elsewhere)
    (run.path / place).symlink_to(elsewhere)
    EVERY["noise"](elsewhere / ("round-01.safetensors" if place == "seed-0" else "config.json"))
    before = contents(elsewhere)
    looked = examine(run.path)
    assert looked.findings
    assert all(finding.repair is None and "symbolic link" in finding.then for finding in looked.findings)
    assert not repair(looked).repaired
    assert run_command("glt", ["doctor", "--mend", "--store", str(store.root)]).code == 1
    assert contents(elsewhere) == before


def test_an_outdated_finding_is_not_repaired(copy: Copy, tmp_path: Path) -> None:
    run = copy().runs()[0]
    seed, whole = run.path / "seed-0", tmp_path / "whole"
    shutil.copytree(seed, whole)
    for name in ("rounds.jsonl", "checksums.jsonl"):
        lines = (seed / name).read_text().splitlines(keepends=True)
        (seed / name).write_text("".join(lines[:-1]))
    looked = examine(run.path)
    assert looked.findings
    shutil.rmtree(seed)
    shutil.copytree(whole, seed)
    assert not repair(looked).repaired
    assert contents(seed) == contents(whole)
    assert not (run.path / "set-aside").exists()
