"""What a seed was computed with is written once; a resume adds other versions and refuses other data."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from glt.config import RunConfig
from glt.errors import JobError
from glt.jobs import environment
from glt.jobs.devices import Settings
from glt.jobs.environment import git_state, record_environment, sources_digest
from glt.results_version import RESULTS_VERSION, seed_versions
from glt.store import SeedRun, Store


@pytest.fixture
def seed_run(store: Store, config: RunConfig) -> SeedRun:
    seed_run = store.create(config).seed(0)
    seed_run.make()
    record_environment(seed_run, Settings(), "a" * 64)
    return seed_run


def test_the_same_versions_change_nothing(seed_run: SeedRun) -> None:
    before = seed_run.environment()
    record_environment(seed_run, Settings(), "a" * 64)
    assert seed_run.environment() == before


def test_other_versions_are_added_once(seed_run: SeedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    before = seed_run.environment()
    monkeypatch.setattr(environment, "current_versions", lambda: {"torch": "99"})
    for _ in range(2):
        record_environment(seed_run, Settings(), "a" * 64)
    assert seed_run.environment() == {**before, "resumed_with": [{"torch": "99"}]}


def test_fewer_threads_than_it_began_with_are_added_once(seed_run: SeedRun) -> None:
    seed_run.write_environment({**seed_run.environment(), "threads": 64})
    before = seed_run.environment()
    for _ in range(2):
        record_environment(seed_run, Settings(threads=2), "a" * 64)
    assert seed_run.environment() == {**before, "resumed_with": [{**before["versions"], "threads": 2}]}


def test_a_resume_by_other_code_is_added_once(seed_run: SeedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    before = seed_run.environment()
    other = {"results_version": 99, "sources": "b" * 64, "revision": "c" * 40, "modified": True}
    monkeypatch.setattr(environment, "computing_code", lambda: other)
    for _ in range(2):
        record_environment(seed_run, Settings(), "a" * 64)
    assert seed_run.environment() == {**before, "resumed_with": [{**before["versions"], **other}]}
    assert seed_versions(seed_run) == {RESULTS_VERSION, 99}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit, of a package with a module, a subpackage and data; returns the package."""
    package = tmp_path / "checkout" / "glt"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("ONE = 1\n")
    (package / "deep" / "module.py").write_text("TWO = 2\n")
    (package / "notes.md").write_text("text\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(package.parent), *who, *arguments], check=True)
    return package


def test_sources_edited_since_the_commit_are_said_to_be(checkout: Path) -> None:
    clean = git_state(checkout)
    assert clean["modified"] is False
    assert len(clean["revision"]) == 40
    digest = sources_digest(checkout)
    (checkout / "notes.md").write_text("other\n")
    assert (git_state(checkout), sources_digest(checkout)) == (clean, digest), "text is no source"
    (checkout / "deep" / "module.py").write_text("TWO = 3\n")
    assert git_state(checkout) == {**clean, "modified": True}
    assert sources_digest(checkout) != digest
    (checkout / "deep" / "module.py").write_text("TWO = 2\n")
    assert (git_state(checkout), sources_digest(checkout)) == (clean, digest)
    (checkout / "deep" / "new.py").write_text("")
    assert git_state(checkout)["modified"] is True
    assert sources_digest(checkout) != digest


def test_a_copy_without_git_has_a_digest_and_no_commit(checkout: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(checkout, tmp_path / "site-packages" / "glt")
    assert git_state(copy) == {"revision": None}
    assert sources_digest(copy) == sources_digest(checkout)


def test_what_computes_is_recorded(seed_run: SeedRun) -> None:
    recorded = seed_run.environment()
    assert recorded["results_version"] == RESULTS_VERSION
    assert recorded["sources"] == sources_digest(environment.SOURCES)
    assert recorded["revision"] == git_state(environment.SOURCES)["revision"]


def test_other_data_are_refused(seed_run: SeedRun) -> None:
    with pytest.raises(JobError, match=r"data set cora is not the one .*content bbbbbbbb, then aaaaaaaa"):
        record_environment(seed_run, Settings(), "b" * 64)
