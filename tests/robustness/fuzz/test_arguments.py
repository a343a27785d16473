"""Hostile words on command lines and in page addresses: one sentence, or it works."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as hs
from streamlit.testing.v1 import AppTest

import analysis.cli.main as of_analysis
import glt.cli.main as of_glt
from app.data import runs
from app.main import PAGES
from glt.cli.main import Verbs
from glt.config import CORE_FIELDS
from glt.errors import ConfigError, StudioError
from glt.presets import option_fields, resolve
from glt.store import Run, Store
from glt.store.run import read_config
from glt.user_path import STORE_VARIABLE
from tests.robustness.fuzz.hostile import (
    DOCUMENTS,
    EXAMPLES,
    LONG,
    SENT,
    WRITTEN,
    hostile,
    sent_texts,
    texts,
    values,
    written,
)

MAINS = {"glt": of_glt.main, "analysis": of_analysis.main}
VERBS = {
    program: {name: listed.verb(name) for name in listed.verbs}
    for program, listed in (("glt", Verbs(of_glt.SECTIONS, "")), ("analysis", Verbs(of_analysis.SECTIONS, "")))
}
# What is given where a word must be good for the others to be looked at; these verbs begin no computation.
GOOD = {"--round": "1", "--seed": "0", "--seeds": "0", "--grid": "p_graph=.1", "--store": "nowhere"}
CALM = {"run", "resume", "sweep", "reproduce", "pretrain", "stop", "delete"}
# No argument of a process can hold it.
TRIPPING = (LONG, "\x1b[31m\udcff", "x=", "nan", "-1", "1" * 100_000, "../../x", "a\nb", "\u202ex", "=", "x=\udc80")
GIVEN = tuple(word for word in WRITTEN if "\x00" not in word)
SETTINGS = [*CORE_FIELDS, *option_fields(resolve({}))]


def arguments() -> Iterator[tuple[str, str, str]]:
    """Yield every (program, verb, argument), options by their first name."""
    for program, verbs in VERBS.items():
        for name, verb in verbs.items():
            for param in verb.params:
                if not getattr(param, "is_flag", False):
                    yield program, name, param.opts[0] if isinstance(param, click.Option) else param.name.upper()


ARGUMENTS = list(arguments())


@pytest.fixture
def place(store: Store) -> Run:
    """A run without rounds, in whose store nothing may be computed."""
    return store.create(resolve({}))


def complaint(capsys: pytest.CaptureFixture[str], program: str, words: list[str]) -> str:
    """Run a command and return the one line it prints."""
    code = MAINS[program](words)
    printed = capsys.readouterr()
    typed = f"{program} {' '.join(word[:60] for word in words)}"
    assert code in {0, 1, 2}, typed
    if code:
        assert printed.err.count("\n") == 1, (typed, printed.err[:500])
        assert len(printed.err) < 4600, typed
        assert printed.err[:-1].isprintable(), (typed, printed.err[:500])
        assert "Unexpected" not in printed.err, (typed, printed.err[:500])
    return printed.err


def words_for(program: str, verb: str, name: str, word: str, run: str) -> list[str]:
    """Return a command line in which one argument is `word` and the others are good, or missing."""
    flag = [name, word] if name.startswith("--") else []
    fitting = {"RUN": run, "RUNS": run, "FILE": "nowhere.zip", "NAME": "accuracy", "FIGURE": "accuracy"}
    params = VERBS[program][verb].params
    there = {option for param in params for option in param.opts}
    known = {option: value for option, value in GOOD.items() if option in there}
    flags = [part for flag_, value in known.items() if flag_ not in {name, "--store"} for part in (flag_, value)]
    named = [param.name.upper() for param in params if isinstance(param, click.Argument)]
    places = [word if place == name else fitting.get(place, "x") for place in named]
    return [verb, *flags, *flag, "--", *places] if places else [verb, *flags, *flag]


def is_calm(verb: str, name: str) -> bool:
    """Return whether a bad word in this place starts no computation, even if the others are valid."""
    return verb not in CALM or name in {"RUN", "RUNS", "--set", "--seeds", "--grid", "--device", "--threads", "--model"}


@pytest.mark.parametrize(("program", "verb", "name"), [each for each in ARGUMENTS if is_calm(*each[1:])])
def test_listed_hostile_words(
    capsys: pytest.CaptureFixture[str], place: Run, monkeypatch: pytest.MonkeyPatch, program: str, verb: str, name: str
) -> None:
    forbid_work(monkeypatch)
    for word in TRIPPING if EXAMPLES else TRIPPING[:3]:
        complaint(capsys, program, words_for(program, verb, name, word, place.name))


@hostile(few=20)
@given(
    which=hs.sampled_from([each for each in ARGUMENTS if is_calm(*each[1:])]),
    word=hs.one_of(hs.sampled_from(GIVEN), hs.text(max_size=30)),
)
def test_arbitrary_words(
    capsys: pytest.CaptureFixture[str], which: tuple[str, str, str], word: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        forbid_work(patch)
        patch.setenv("GLT_STORE", str(tmp_path_factory.getbasetemp() / "empty"))
        patch.chdir(tmp_path_factory.mktemp("here"))
        complaint(capsys, which[0], words_for(*which, word.replace("\x00", ""), "nowhere"))


def forbid_work(patch: pytest.MonkeyPatch) -> None:
    """Make every attempt to start a process fail."""
    from glt.errors import JobError
    from glt.jobs import launcher

    def refuse(*_: object) -> None:
        raise JobError("No worker could be started (a test): try again.")

    patch.setattr(launcher, "_worker_process", refuse)


@hostile(few=60)
@given(name=hs.one_of(hs.sampled_from(SETTINGS), texts()), value=hs.one_of(texts(), values()))
def test_arbitrary_settings(name: str, value: object) -> None:
    error_text = ""
    try:
        json.dumps(resolve({name: value}).model_dump(mode="json"), allow_nan=False)
    except ConfigError as error:
        error_text = str(error)
    assert len(error_text) < 4600


@hostile(few=60)
@given(
    content=hs.one_of(
        hs.sampled_from(DOCUMENTS), values().map(lambda value: written(value).encode()), hs.binary(max_size=200)
    )
)
def test_arbitrary_config_files(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "config.json"
    path.write_bytes(content)
    with pytest.raises(StudioError) as refusal:
        read_config(path)
    assert len(str(refusal.value)) < 5000


def test_arbitrary_annotations(store: Store, capsys: pytest.CaptureFixture[str], around: Path) -> None:
    run = store.create(resolve({}))
    for word in GIVEN if EXAMPLES else GIVEN[::8]:
        for flag in ("--title", "--note", "--color"):
            complaint(capsys, "glt", ["annotate", run.name, f"{flag}={word}"])
    assert len(store.annotations().of(run.name).title) <= 60


NAMES = [title.lower() for title in PAGES]
ROOT = Path(__file__).parents[3]
# Words of an address have up to 100,000 letters; what pages explain by themselves has some 10,000.
LONGEST_SAID = 20_000


def parameters() -> list[str]:
    """Return the name of every control, and so of every query parameter, as the sources have it."""
    calls = re.compile(r"(?:controls\.\w+|_?settle_\w+|address\.\w+)\(\s*f?\"([a-z_]+)\"")
    found = {name for path in (ROOT / "app").rglob("*.py") for name in calls.findall(path.read_text(encoding="utf-8"))}
    return sorted(found)


PARAMETERS = parameters()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, draw_seed: Callable[..., None]) -> Iterator[Store]:
    """Two finished runs, which the app shows without examples."""
    folder = tmp_path_factory.mktemp("addresses")
    store = Store(folder / "store")
    for method in ("ugs", "random"):
        run = store.create(resolve({"method": method, "rounds": 2, "epochs": 2, "retrain_epochs": 2}, "official"))
        for seed in (0, 1):
            draw_seed(run.seed(seed), 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(STORE_VARIABLE, str(store.root))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setattr(runs, "EXAMPLES", folder / "no examples")
        st.cache_data.clear()
        st.cache_resource.clear()
        yield store


def check(app: AppTest) -> None:
    assert not app.exception, [each.value for each in app.exception]
    for element in (*app.toast, *app.error, *app.warning, *app.caption, *app.markdown):
        assert len(element.value) < LONGEST_SAID, element.value[:200]


def test_every_url_parameter_is_covered() -> None:
    assert {"runs", "run", "seed", "round", "size", "x", "margin", "view"} <= set(PARAMETERS)
    assert len(PARAMETERS) > 50


@pytest.mark.parametrize("page", NAMES)
def test_urls_with_hostile_words(filled: Store, open_page: Callable[..., AppTest], page: str) -> None:
    """Every parameter of every page gets a listed word, another one at each opening."""
    for first in range(0, len(SENT) if EXAMPLES else 1, 12):
        view = {name: SENT[(first + place) % len(SENT)] for place, name in enumerate(PARAMETERS)}
        check(open_page(page, view))


@hostile(few=2, share=0.2)
@given(
    page=hs.sampled_from(NAMES),
    view=hs.dictionaries(
        hs.sampled_from(PARAMETERS), hs.one_of(sent_texts(), hs.lists(sent_texts(), max_size=5)), max_size=12
    ),
)
def test_urls_with_arbitrary_words(
    filled: Store, open_page: Callable[..., AppTest], page: str, view: dict[str, str | list[str]]
) -> None:
    check(open_page(page, view))


@pytest.mark.long
@pytest.mark.parametrize("page", ["curves", "subgraphs", "launch"])
def test_a_url_parameter_repeated_a_thousand_times(filled: Store, open_page: Callable[..., AppTest], page: str) -> None:
    many = [f"run-{number}" for number in range(1000)]
    check(open_page(page, {"runs": many, "run": many, "seed": many, "seeds": many, "methods": many}))
