"""The help of every verb: its choices, its examples, and what it must not import; and completion by the shell."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable

import click
import pytest

from analysis.measures.registry import MEASURES
from analysis.subgraphs.samplers import SAMPLERS
from app.command import ABOUT, SECTIONS, main
from glt.cli.main import Verb, Verbs
from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.methods import METHODS
from glt.models import MODELS
from glt.presets import PRESETS
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.reproduction import EXPERIMENTS
from glt.store import COLORS, MAC_CONVENTIONS, Store, bundled_examples
from glt.training.tasks import TASKS
from glt.verdicts import DELTA

VERBS = Verbs(SECTIONS, ABOUT)
# --explain prints and ends while it is parsed; another test runs it.
EXAMPLES = [
    (name, example) for name in VERBS.verbs for example in VERBS.verb(name).examples if "--explain" not in example
]
RUN = {
    "--dataset": DATASETS.names(),
    "--model": MODELS.names(),
    "--method": METHODS.names(),
    "--task": TASKS.names(),
    "--preset": PRESETS,
}
COMMAND = "import sys; from app.command import main; sys.exit(main())"
HEAVY = "torch torch_geometric pandas matplotlib streamlit plotly igraph ogb"

Capture = pytest.CaptureFixture[str]


def help_of(verb: str, capsys: Capture) -> str:
    """The help of a verb, with its line breaks undone."""
    assert main([verb, "--help"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return " ".join(said.out.split())


def entry(told: str, option: str) -> str:
    """What the help says of one option, up to the next one."""
    found = re.search(rf" {re.escape(option)}[ ,].*?(?= --?[a-z]| Examples:)", told)
    assert found is not None, told
    return found[0]


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("run", RUN),
        ("sweep", RUN),
        ("pretrain", {"--dataset": DATASETS.names(), "--augmentation": AUGMENTATIONS.names(), "--task": TASKS.names()}),
        ("reproduce", {"--dataset": DATASETS.names(), "--model": MODELS.names(), "--task": TASKS.names()}),
        ("export", {"--format": ("ticket", "graphml", "csv", "npz")}),
        ("import", {"--graph": (".graphml", ".csv", ".npz")}),
        ("annotate", {"--color": (*COLORS, "none")}),
        ("measure", {"--engine": ("default", "networkx", "fast")}),
        ("betweenness", {"--engine": ("fast", "networkx")}),
        ("compare", {"--at": ("round", "graph", "weight"), "--macs": MAC_CONVENTIONS}),
        ("leaders", {"--rank": ("best", "dense"), "--score": ("best", "last")}),
        (
            "figure",
            {
                "--venue": ("icml", "neurips", "iclr", "ieee", "acm"),
                "--out": ("pdf", "svg", "png", "pgf"),
                "--sample": SAMPLERS.names(),
                "--measure": MEASURES.names(),
                "--x": ("graph", "weight", "macs", "all"),
            },
        ),
        ("table", {"--format": ("latex", "csv", "json"), "--measure": MEASURES.names()}),
    ],
)
def test_the_help_lists_the_choices(verb: str, options: dict[str, list[str]], capsys: Capture) -> None:
    told = help_of(verb, capsys)
    for option, names in options.items():
        assert ", ".join(names) in entry(told, option)


def test_the_help_lists_experiments_tables_and_defaults(capsys: Capture) -> None:
    assert ", ".join(EXPERIMENTS.names()) in help_of("reproduce", capsys)
    assert "measurements, trend, tickets, paper" in help_of("table", capsys)
    assert f"[default: {100 * DELTA:g}]" in entry(help_of("show", capsys), "--margin, --tolerance")
    usual = RunConfig()
    for option in ("--dataset", "--model", "--method", "--task"):
        assert f"[default: {getattr(usual, option[2:])}]" in entry(help_of("run", capsys), option)


def test_a_verb_used_outside_the_group_keeps_both_help_options() -> None:
    verb = Verb("alone", callback=lambda: None)
    option = verb.get_help_option(click.Context(verb))
    assert option is not None
    assert option.opts == ["-h", "--help"]


@pytest.mark.parametrize("name", VERBS.verbs)
def test_the_help_of_a_verb_says_what_it_does_and_shows_examples(name: str, capsys: Capture) -> None:
    assert main([name, "-h"]) == 0
    told = capsys.readouterr().out
    verb = VERBS.verb(name)
    assert verb.help is not None
    summary = verb.help.splitlines()[0]
    assert summary in " ".join(told.split())
    assert len(summary) < 66
    assert verb.examples
    assert told.partition("Examples:\n")[2].split("\n  ")[0].startswith(f"  glt {name}")
    for param in verb.params:
        assert param.help, f"{name}: {param.name} has no help"


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_an_example_can_be_parsed(name: str, example: str) -> None:
    verb, *words = shlex.split(example)
    assert verb == name
    assert VERBS.verb(name).arguments(words)


def test_every_verb_is_listed_once_under_a_heading(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    for heading, verbs in SECTIONS.items():
        section = told.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^  ([a-z]+)  ", section, re.MULTILINE) == list(verbs)


def test_help_imports_nothing_that_is_slow() -> None:
    program = (
        "import sys; from app.command import main\n"
        f"light = {{'numpy', 'scipy', 'pydantic', *{HEAVY.split()!r}}}\n"
        "main(['--help']); first = light & sys.modules.keys()\n"
        f"for name in {list(VERBS.verbs)!r}: main([name, '--help'])\n"
        f"heavy = {set(HEAVY.split())!r} & sys.modules.keys()\n"
        "sys.exit(f'{first} {heavy}' if first or heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# Arguments.


def arguments(*words: str) -> dict[str, object]:
    name, *rest = words
    return vars(VERBS.verb(name).arguments(rest))


def test_options_take_several_values_in_every_spelling() -> None:
    expected = [("rounds", "5"), ("hidden", "64"), ("epochs", "2")]
    for words in (
        ["--set", "rounds=5", "hidden=64", "epochs=2"],
        ["--set", "rounds=5", "--set", "hidden=64", "epochs=2"],
        ["--set=rounds=5", "--set=hidden=64", "--set", "epochs=2"],
    ):
        given = arguments("run", *words, "--seeds=0,2-3")
        assert list(given["set"]) == expected  # type: ignore[call-overload]
        assert given["seeds"] == [0, 2, 3]


def test_options_stand_before_between_and_after_positional_arguments() -> None:
    for words in (["--round", "4", "RUN", "--json"], ["RUN", "--round=4", "--json"], ["--json", "RUN", "--round", "4"]):
        given = arguments("cost", *words)
        assert (given["run"], given["round"], given["json"]) == ("RUN", 4, True)
    given = arguments("figure", "accuracy", "A", "--x", "all", "B", "--out", "f.pdf")
    assert (given["figure"], given["runs"], given["x"]) == ("accuracy", ("A", "B"), "all")
    given = arguments("delete", "A", "--restore", "B", "C", "--empty-trash")
    assert (given["runs"], given["restore"]) == (("A",), ("B", "C"))


def test_one_device_or_several() -> None:
    assert arguments("run", "--device", "cuda")["device"] == "cuda"
    assert arguments("run", "--devices", "cuda:0,cuda:1")["device"] == ("cuda:0", "cuda:1")
    assert arguments("run")["device"] is None


# Completion.


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> Callable[[str], list[str]]:
    """Return what a shell is offered for the last word of a line."""

    def complete(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_GLT_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        assert main([]) == 0
        return [offered.partition(",")[2] for offered in capsys.readouterr().out.splitlines()]

    return complete


def test_a_shell_completes_verbs_options_and_names(complete: Callable[[str], list[str]]) -> None:
    assert complete("glt re") == ["reproduce", "resume"]
    assert complete("glt run --data") == ["--dataset"]
    assert complete("glt run --dataset ci") == ["citeseer"]
    assert complete("glt run --set rounds=2 hidden=4 --method r") == ["random", "reinit"]
    assert complete("glt figure accuracy,tr") == ["accuracy,training", "accuracy,trend"]
    assert complete("glt table ti") == ["tickets"]


def test_a_shell_completes_runs_of_the_store_and_examples(
    complete: Callable[[str], list[str]], store: Store, tmp_path: os.PathLike[str]
) -> None:
    own = store.create(RunConfig(hidden=16)).name
    assert complete("glt show cora-") == [own]
    elsewhere = Store(f"{tmp_path}/elsewhere").create(RunConfig(hidden=8)).name
    assert complete(f"glt show --store {tmp_path}/elsewhere cora-") == [elsewhere]
    offered = complete("glt figure accuracy examples/cora-node-gcn-ugs")
    assert offered == [f"examples/{run.name}" for run in bundled_examples() if run.name.startswith("cora-node-gcn-ugs")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("_GLT_COMPLETE", f"{shell}_source")
    monkeypatch.setattr(click.shell_completion.BashComplete, "_check_version", lambda _: None)
    assert main([]) == 0
    assert f"_GLT_COMPLETE={shell}_complete" in capsys.readouterr().out
