"""What every verb shares: errors on one line, exit codes, help, completion, streams, written files."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import click
import pytest
import torch

from analysis.measures import MEASURES
from analysis.subgraphs.samplers import SAMPLERS
from app.command import ABOUT, SECTIONS, main
from glt.cli.main import Verb, Verbs
from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.formats import as_typed
from glt.methods import METHODS
from glt.models import MODELS
from glt.presets import PRESETS
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.reproduction import EXPERIMENTS
from glt.store import COLORS, MAC_CONVENTIONS, Store, bundled_examples, run_name
from glt.store.paths import EXAMPLES
from glt.training.tasks import TASKS
from glt.verdicts import DELTA
from tests.conftest import imported_by


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    assert "Traceback" not in captured.err
    return code, captured.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("run --dataset coar", "Unknown data set 'coar': did you mean 'cora'?"),
        ("run --method ugz", "Unknown method 'ugz': did you mean 'ugs'?"),
        ("run --model gnc", "Unknown model 'gnc': did you mean 'gcn'?"),
        ("run --task nodes", "Unknown task 'nodes': did you mean 'node'?"),
        ("run --preset offical", "Unknown preset 'offical': did you mean 'official'?"),
        ("run --set roundz=3", "Unknown setting 'roundz': did you mean 'rounds'?"),
        ("run --set p_graph=1.5", "p_graph must be less than 1, not 1.5"),
        ("run --set rounds=two", "rounds cannot be 'two'"),
        ("run --set rounds=0 hidden=no", "2 settings cannot be used: hidden cannot be 'no'"),
        ("run --set hidden=", "hidden has no value; write key=value"),
        ("run --method reinit", "need a source of masks: add --set masks_of=RUN"),
        ("run --set rounds", "'rounds' is not a setting; write key=value"),
        ("run --set =3", "'=3' is not a setting"),
        ("run --seeds x", "'x' is not a seed"),
        ("run --seeds 1,,2", "'' is not a seed"),
        ("run --seeds 1.5", "'1.5' is not a seed"),
        ("run --seeds 5-1", "'5-1' is not a range"),
        ("run --seeds 0-999999999", "not a range of 1 to 1000 seeds"),
        ("run --threads 0", "'0' is less than 1"),
        *(
            (f"{verb} --threads 9999", "9999 threads are more than the ")
            for verb in ("run", "resume r", "pretrain", "sweep --grid hidden=4", "reproduce 4", "latency r --round 0")
        ),
        ("run --device tpu", "--device: Unknown device 'tpu'"),
        ("run --device cpu --devices cpu", "--device and --devices exclude each other"),
        ("run --devices cpu --device cpu", "--device and --devices exclude each other"),
        ("show", "Missing argument 'RUN'"),
        ("compare a", "too few arguments: give RUN RUN"),
        ("cost r --round x", "'x' is not a whole number"),
        ("delete", "name a run, or give --empty-trash"),
        ("frobnicate", "Unknown verb 'frobnicate'"),
        ("", "Missing command"),
        ("pretrain --augmentation edge", "Unknown augmentation 'edge': did you mean 'edges'?"),
        ("pretrain --set share=1", "share must be less than 1, not 1"),
        ("pretrain --hidden 0", "hidden must be at least 1, not 0"),
        ("pretrain --set patienc=3", "Unknown setting 'patienc': did you mean 'patience'?"),
        ("pretrain --set split_seed=3", "Task 'node' has no held-out edges: omit split_seed"),
        ("run --set pretraining=cora-node-gcn-graphcl-12345678", "pretraining cannot be"),
        ("sweep ", "The grid is empty"),
        ("sweep --grid", "--grid: give a value"),
        ("sweep --grid p_graph", "'p_graph' is not a setting; write key=value,value, as in p_graph=.05"),
        ("sweep --grid p_graph=", "p_graph has no value; write key=value,value"),
        ("sweep --grid p_graph=.1 p_graph=.2", "The grid names p_graph twice"),
        ("sweep --grid pgraph=.1", "Unknown setting 'pgraph': did you mean 'p_graph'?"),
        ("sweep --grid p_graph=.1,2", "p_graph must be less than 1, not 2"),
        ("sweep --method random --grid gamma_graph=.1,.2", "The method random ignores gamma_graph"),
        ("reproduce teasr", "Unknown experiment 'teasr': did you mean 'teaser'?"),
        ("reproduce teaser --dataset pubmed", "There is no teaser for pubmed: choose one of"),
        ("reproduce teaser --model gat", "There is no teaser for gat"),
        ("sweep --grid p_graph=.1,.2 --set p_graph=.3", "p_graph is set to .3 and varied in the grid too"),
        ("sweep --grid model=gcn,gat --model gcn", "model is set to gcn and varied in the grid too"),
    ],
)
def test_bad_arguments_exit_with_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, sentence: str
) -> None:
    monkeypatch.setenv("GLT_STORE", str(tmp_path / "store"))
    code, printed = complaint(capsys, *arguments.split())
    assert code == 2
    assert sentence in printed
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("show nothing", "No run 'nothing' in the store"),
        ("stop nothing", "No run 'nothing'"),
        ("resume nothing", "No run 'nothing'"),
        ("audit nothing --round 1", "No run 'nothing'"),
        ("delete nothing", "No run 'nothing'"),
        ("show cora-node-gcn-ugs", "did you mean cora-node-gcn-ugs-"),
        (f"cost {run_name(RunConfig())} --round 1", f"has no seeds yet: start it with `{as_typed('run')}`."),
        ("run --config nowhere/config.json", "config.json is missing: give the path of a run's config.json"),
        ("run --config written.json", "names no format version, as every config.json of a run does: give the path"),
        ("list --store nowhere", "There is no store at nowhere: name the folder"),
        ("delete --restore nothing", "is empty: no run can be restored"),
    ],
)
def test_missing_runs_and_files_exit_with_1(
    capsys: pytest.CaptureFixture[str], store: Store, arguments: str, sentence: str
) -> None:
    store.create(RunConfig())
    Path("written.json").write_text('{"config": {"rounds": 3}}', encoding="utf-8")
    code, printed = complaint(capsys, *arguments.split())
    assert code == 1
    assert sentence in printed


def test_a_store_that_cannot_be_written_exits_with_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, printed = complaint(capsys, "run", "--store", str(tmp_path / "file" / "store"))
    assert code == 1
    assert "cannot be written" in printed
    assert "choose another store" in printed


def test_unexpected_errors_are_one_line_with_traceback_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    def explode(_: Store) -> None:
        raise RuntimeError("boom\nand more")

    monkeypatch.setattr(Store, "contents", explode)
    code, printed = complaint(capsys, "list", "--json")
    assert code == 1
    assert printed.startswith("Unexpected RuntimeError (boom and more)")
    monkeypatch.setenv("GLT_DEBUG", "1")
    with pytest.raises(RuntimeError, match="boom"):
        main(["list", "--json"])
    monkeypatch.undo()


@pytest.mark.parametrize("verb", ["run", "pretrain"])
def test_a_missing_device_leaves_no_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, printed = complaint(capsys, verb, "--device", "cuda", "--store", str(tmp_path / "store"))
    assert (code, printed) == (1, "There is no CUDA device here: start the run with --device cpu.\n")
    assert not (tmp_path / "store").exists()


def test_a_damaged_run_can_be_deleted(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    damaged = store.create(RunConfig())
    (damaged.path / "config.json").write_text("{")
    assert main(["delete", damaged.name]) == 0
    assert capsys.readouterr().out == f"Moved {damaged.name} to the trash of {store.root}.\n"
    assert store.damaged() == []


@pytest.mark.parametrize(
    ("listed", "code", "sentence"),
    [
        ("gpu", 2, "'gpu' is not a device: use cpu, cuda, or one of several as cuda:0, cuda:1"),
        ("cpu,", 2, "'' is not a device"),
        ("cpu,cpu", 1, "The devices cpu, cpu name cpu twice: name each device once."),
        ("cuda:0,cuda:9", 1, "There is no CUDA device here: start the run with --devices cpu."),
    ],
)
@pytest.mark.parametrize("verb", ["run", "sweep --grid p_graph=.1,.2", "reproduce teaser", "pretrain"])
def test_unusable_devices_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, verb: str, listed: str, code: int, sentence: str
) -> None:
    store = tmp_path / "store"
    found, printed = complaint(capsys, *verb.split(), "--devices", listed, "--store", str(store))
    assert found == code
    assert sentence in printed
    assert not store.exists()


VERBS = Verbs(SECTIONS, ABOUT)
# --explain prints and ends while it is parsed; another test runs it.
VERB_EXAMPLES = [
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
    printed = capsys.readouterr()
    assert printed.err == ""
    return " ".join(printed.out.split())


def entry(printed: str, option: str) -> str:
    """What the help says of one option, up to the next one."""
    found = re.search(rf" {re.escape(option)}[ ,].*?(?= --?[a-z]| Examples:)", printed)
    assert found is not None, printed
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
        (
            "leaders",
            {
                "--rank": ("best", "dense"),
                "--score": ("best", "last"),
                "--at": ("round", "entries", "edges", "macs"),
            },
        ),
        (
            "figure",
            {
                "--venue": ("icml", "neurips", "iclr", "ieee", "acm"),
                "--out": ("pdf", "svg", "png", "pgf"),
                "--sample": SAMPLERS.names(),
                "--measure": MEASURES.names(),
                "--x": ("graph", "weight", "edges", "macs", "all"),
            },
        ),
        ("table", {"--format": ("latex", "csv", "json"), "--measure": MEASURES.names()}),
    ],
)
def test_the_help_lists_the_choices(verb: str, options: dict[str, list[str]], capsys: Capture) -> None:
    printed = help_of(verb, capsys)
    for option, names in options.items():
        assert ", ".join(names) in entry(printed, option)


def test_the_help_lists_experiments_tables_and_defaults(capsys: Capture) -> None:
    assert ", ".join(EXPERIMENTS.names()) in help_of("reproduce", capsys)
    assert "measurements, trend, tickets, paper, budget, stability, transfer" in help_of("table", capsys)
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
def test_verb_help_has_description_and_examples(name: str, capsys: Capture) -> None:
    assert main([name, "-h"]) == 0
    printed = capsys.readouterr().out
    verb = VERBS.verb(name)
    assert verb.help is not None
    summary = verb.help.splitlines()[0]
    assert summary in " ".join(printed.split())
    assert len(summary) < 66
    assert verb.examples
    assert printed.partition("Examples:\n")[2].split("\n  ")[0].startswith(f"  glt {name}")
    for param in verb.params:
        assert param.help, f"{name}: {param.name} has no help"


@pytest.mark.parametrize(("name", "example"), VERB_EXAMPLES)
def test_help_examples_parse(name: str, example: str) -> None:
    verb, *words = shlex.split(example)
    assert verb == name
    assert VERBS.verb(name).arguments(words)


def test_every_verb_is_listed_once_under_a_heading(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    for heading, verbs in SECTIONS.items():
        section = printed.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^  ([a-z]+)  ", section, re.MULTILINE) == list(verbs)


def test_help_imports_nothing_slow() -> None:
    assert imported_by("from app.command import main; main(['--help'])", f"numpy scipy pydantic {HEAVY}") == set()
    every = f"from app.command import main\nfor name in {list(VERBS.verbs)!r}: main([name, '--help'])"
    assert imported_by(every, HEAVY) == set()


def arguments(*words: str) -> dict[str, object]:
    name, *rest = words
    return vars(VERBS.verb(name).arguments(rest))


def test_multi_value_options_accept_every_spelling() -> None:
    expected = [("rounds", "5"), ("hidden", "64"), ("epochs", "2")]
    for words in (
        ["--set", "rounds=5", "hidden=64", "epochs=2"],
        ["--set", "rounds=5", "--set", "hidden=64", "epochs=2"],
        ["--set=rounds=5", "--set=hidden=64", "--set", "epochs=2"],
    ):
        given = arguments("run", *words, "--seeds=0,2-3")
        assert list(given["set"]) == expected  # type: ignore[call-overload]
        assert given["seeds"] == [0, 2, 3]


def test_options_and_arguments_may_be_mixed() -> None:
    for words in (["--round", "4", "RUN", "--json"], ["RUN", "--round=4", "--json"], ["--json", "RUN", "--round", "4"]):
        given = arguments("cost", *words)
        assert (given["run"], given["round"], given["json"]) == ("RUN", 4, True)
    given = arguments("figure", "accuracy", "A", "--x", "all", "B", "--out", "f.pdf")
    assert (given["figure"], given["runs"], given["x"]) == ("accuracy", ("A", "B"), "all")
    given = arguments("delete", "A", "--restore", "B", "C", "--empty-trash")
    assert (given["runs"], given["restore"]) == (("A",), ("B", "C"))


def test_device_options() -> None:
    assert arguments("run", "--device", "cuda")["device"] == "cuda"
    assert arguments("run", "--devices", "cuda:0,cuda:1")["device"] == ("cuda:0", "cuda:1")
    assert arguments("run")["device"] is None


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


def test_completion_of_verbs_options_and_names(complete: Callable[[str], list[str]]) -> None:
    assert complete("glt re") == ["reproduce", "resume"]
    assert complete("glt run --data") == ["--dataset"]
    assert complete("glt run --dataset ci") == ["citeseer"]
    assert complete("glt run --set rounds=2 hidden=4 --method r") == ["random", "reinit"]
    assert complete("glt figure accuracy,tre") == ["accuracy,trend"]
    assert complete("glt table ti") == ["tickets"]


def test_completion_of_runs_and_examples(
    complete: Callable[[str], list[str]], store: Store, tmp_path: os.PathLike[str]
) -> None:
    own = store.create(RunConfig(hidden=16)).name
    assert complete("glt show cora-") == [own]
    elsewhere = Store(f"{tmp_path}/elsewhere").create(RunConfig(hidden=8)).name
    assert complete(f"glt show --store {tmp_path}/elsewhere cora-") == [elsewhere]
    offered = complete("glt figure accuracy examples/cora-node-gcn-ugs")
    assert offered == [f"examples/{run.name}" for run in bundled_examples() if run.name.startswith("cora-node-gcn-ugs")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("_GLT_COMPLETE", f"{shell}_source")
    monkeypatch.setattr(click.shell_completion.BashComplete, "_check_version", lambda _: None)
    assert main([]) == 0
    assert f"_GLT_COMPLETE={shell}_complete" in capsys.readouterr().out


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LANG": "C"}
UGS, RANDOM = (
    next(path.name for path in sorted(EXAMPLES.iterdir()) if path.name.startswith(f"cora-node-gcn-{method}"))
    for method in ("ugs", "random")
)
READING = {
    "list": ["glt", "list"],
    "list --json": ["glt", "list", "--json"],
    "show": ["glt", "show", UGS],
    "doctor": ["glt", "doctor", UGS],
    "cost": ["glt", "cost", UGS, "--round", "1"],
    "annotate": ["glt", "annotate", UGS],
    "reproduce": ["glt", "reproduce"],
    "leaders": ["analysis", "leaders", UGS, RANDOM],
    "compare": ["analysis", "compare", UGS, RANDOM],
    "measure": ["analysis", "measure", UGS, "--round", "1"],
    "explain": ["analysis", "measure", "--explain"],
    "betweenness": ["analysis", "betweenness", UGS, "--round", "1", "--sample", "16"],
    "table": ["analysis", "table", "tickets", UGS],
    "help": ["glt", "--help"],
}
CLOSED = {"out": ">&-", "err": "2>&-", "both": ">&- 2>&-", "in": "<&-", "all": "<&- >&- 2>&-"}


@pytest.fixture
def titled(tmp_path: Path) -> Path:
    """A store of links to two examples with titles and notes beyond ASCII."""
    store = tmp_path / "store"
    store.mkdir()
    for name in (UGS, RANDOM):
        (store / name).symlink_to(EXAMPLES / name)
    for name in (UGS, RANDOM):
        Store(store).annotate(name, {"title": f"Größe — {name[14:17]} ✓", "note": "häßlich"})
    return store


def shell(
    arguments: list[str], store: Path, redirection: str = "", **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a verb by a shell, which closes streams; those that read runs get the store."""
    places = [] if arguments[1] in ("reproduce", "--help") or "--explain" in arguments else ["--store", str(store)]
    command = f'exec "$@" {redirection}'
    line = ["sh", "-c", command, "sh", sys.executable, "-m", *arguments, *places]
    environment = {**os.environ, "GLT_CACHE": str(store.parent / "cache"), **variables}
    return subprocess.run(line, capture_output=True, check=False, env=environment, timeout=300)


@pytest.mark.parametrize("verb", READING)
def test_a_closed_stdout_is_no_error(verb: str, titled: Path) -> None:
    done = shell(READING[verb], titled, CLOSED["all" if verb in ("list", "table") else "out"])
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Unexpected" not in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["err", "both", "in"])
def test_other_closed_streams_are_no_error(closed: str, titled: Path) -> None:
    done = shell(READING["list --json"], titled, CLOSED[closed])
    assert done.returncode == 0
    assert (closed == "both") == (done.stdout == b"")
    assert len(json.loads(done.stdout or b"[1, 2]")) == 2
    assert shell(["glt", "show", "nothing"], titled, CLOSED[closed]).returncode == 1


def test_output_never_lands_in_a_written_file(tmp_path: Path) -> None:
    """A file opened while standard output is closed must not get its file descriptor."""
    code = """
import os, sys
from glt.cli.main import prepare_streams
prepare_streams()
file = open("made", "w")
print("lost")
os.write(1, b"lost too")
os.write(2, b"and this")
file.write("kept")
sys.exit(0 if file.fileno() > 2 else 3)
"""
    line = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code]
    assert subprocess.run(line, check=False, cwd=tmp_path).returncode == 0
    assert (tmp_path / "made").read_text() == "kept"


def test_a_full_disk_behind_stdout_is_one_sentence(titled: Path) -> None:
    done = shell(READING["list"], titled, ">/dev/full")
    assert (done.returncode, done.stderr) == (1, b"The file system: No space left on device.\n")
    assert shell(["glt", "show", "nothing"], titled, "2>/dev/full").returncode == 1


@pytest.mark.parametrize("verb", READING)
def test_verbs_work_in_an_ascii_locale(verb: str, titled: Path) -> None:
    done = shell(READING[verb], titled, **ASCII)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    if verb in ("show", "leaders"):
        assert b"Gr\\xf6\\xdfe" in b"".join(done.stdout.split())


def test_tables_are_utf8_in_any_locale(titled: Path) -> None:
    done = shell([*READING["table"], "--format", "csv"], titled, **ASCII)
    assert "Größe — ugs ✓" in done.stdout.decode()


def test_titles_beyond_ascii_are_kept_in_an_ascii_locale(titled: Path) -> None:
    done = shell(["glt", "annotate", UGS, "--title", "Größe", "--note", "häßlich, 漢字"], titled, **ASCII)
    assert (done.returncode, done.stderr) == (0, b"")
    (run,) = [run for run in Store(titled).runs() if run.name == UGS]
    assert (run.annotation.title, run.annotation.note) == ("Größe", "häßlich, 漢字")


def test_a_title_that_is_not_utf8_is_one_sentence(titled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", UGS, "--store", str(titled), "--title", "Gr\udcf6\udcdfe"]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "is not valid UTF-8" in printed


def test_a_closed_pipe_ends_quietly() -> None:
    line = [sys.executable, "-m", "glt", "list", "--store", str(EXAMPLES)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode == 0


STORE = ["--store", str(EXAMPLES)]
WRITING = {
    "export": ["export", UGS, *STORE, "--round", "1", "--format", "csv"],
    "table": ["table", "tickets", UGS, *STORE, "--format", "csv"],
}


@pytest.fixture(params=WRITING)
def write(request: pytest.FixtureRequest) -> Callable[[Path], int]:
    """Run a verb that writes a file, into the file that is given."""
    return lambda out: main([*WRITING[request.param], "--out", str(out)])


def test_output_through_a_link_keeps_the_link(write: Callable[[Path], int], tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to("real.csv")
    assert write(link) == 0
    assert link.is_symlink()
    assert "," in (tmp_path / "real.csv").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "real.csv"]


def test_output_into_a_pipe(write: Callable[[Path], int], tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    assert write(pipe) == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(timeout=60)
    assert "," in found[0]


@pytest.mark.parametrize("what", ["a folder", "links that lead to each other"])
def test_unwritable_output_is_one_sentence(
    write: Callable[[Path], int], what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place.csv"
    if what == "a folder":
        place.mkdir()
    else:
        place.symlink_to(place)
    assert write(place) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert f"{place} cannot be written" in printed
    assert "give another --out" in printed
    assert list(tmp_path.iterdir()) == [place]
    assert place.is_symlink() or not list(place.iterdir())
