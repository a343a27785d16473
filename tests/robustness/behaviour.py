"""Record the program's behaviour as seen from outside, and compare two records.

    python tests/robustness/behaviour.py record FOLDER [--only results figures json pages]
    python tests/robustness/behaviour.py compare ONE OTHER [--words] [--pictures] [--shared]

Only command lines, files and addresses of pages are used, no inner names, so the same script runs before and after a
change of the code. `record` goes on where it was interrupted. The cases are in behaviour_cases.py. FOLDER then holds

    work/       the folder the commands run in, with the store they write
    results/    a file a run: hashes of all tensors, records, events, config
    output/     a file a command: exit code, standard output, standard error, contents of the files it wrote

Times, process numbers, paths and the like are masked. `compare` prints a line for every difference, in the sections
results, figures, json, pages, codes and words, and exits with 1 if there is one. Words (standard error, help, sentences
inside JSON) count only with --words.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time
import traceback
import zipfile
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Python runs this file with its own folder on the path alone.
sys.path.insert(0, str(ROOT))

from tests.robustness.behaviour_differences import compare_records, rounded  # noqa: E402

SECTIONS = ("results", "figures", "json", "pages")
# Longer than any case takes on a busy machine; a case that hangs is recorded as such.
PATIENCE = 900
MASK = "<masked>"
# Values of these names depend on the machine, the time or the copy of the program.
MASKED = re.compile(
    r"^(seconds|.*_seconds|seconds_left|pid|host|heartbeat|process_mark|process_started|queued_at|running_since|"
    r"revision|sources|modified|crc32|created|when|date|deleted|size_bytes|measured_at|cpu|basis|"
    # A ticket's hash of the file that holds its times.
    r"ticket\.json)$"
)
# Of these only the names below them are kept.
NAMES_ONLY = re.compile(r"^(versions|machine|latency|memory|cost_of_search)$")
TEXT_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?( UTC|Z|[+-]\d\d:\d\d)?"), "<date>"),
    (re.compile(r"\d(?:[\d,.]*\d)? (ms|s|min|h|d|seconds|minutes|hours|days)\b( \d+ (s|min|h)\b)?"), "<time>"),
    (re.compile(r"(takes about <time>) \(.*\)"), r"\1 (<basis>)"),
    (re.compile(r"\b(pid|process|PID) \d+"), "<process>"),
    (re.compile(r"\b\d{8}-\d{6}\b"), "<date>"),
    (re.compile(r"[\d.]+ [kMG]B free"), "<size> free"),
    (re.compile(r"busy \(\d+ at work"), "busy (<number> at work"),
    (re.compile(r"seconds \d+\.\d+"), "seconds <time>"),
    (re.compile(r"glt_studio-[\w.]+|/tmp/tmp\w+"), "<temporary>"),
)
# A progress line of --progress: which shares are printed depends on the clock.
PROGRESS = re.compile(r"^[01]\.\d{4}$")
MOST_LINES = 300
MAIN = ROOT / "app" / "main.py"
TEXTS = {"title", "header", "subheader", "caption", "markdown", "text", "info", "warning", "error", "success", "code"}


@dataclass(frozen=True)
class Case:
    """A command line, what it writes, and what is done to the store before it.

    The command is `glt` or `analysis` with arguments, or `page` with a name and settings of its address.
    """

    name: str
    section: str
    argv: tuple[str, ...]
    files: tuple[str, ...] = ()
    before: str = ""
    # What is kept of a JSON document: all of it, its names, or only which run it is about.
    keep: str = "all"
    environment: dict[str, str] = field(default_factory=dict)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    record = verbs.add_parser("record", help="record into FOLDER what it does not hold yet")
    record.add_argument("folder", type=Path)
    record.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    record.add_argument("--cases", default="", metavar="PATTERN", help="only cases whose name matches")
    compare = verbs.add_parser("compare", help="compare two recorded folders")
    compare.add_argument("one", type=Path)
    compare.add_argument("other", type=Path)
    compare.add_argument("--words", action="store_true", help="differences in words count too")
    compare.add_argument("--pictures", action="store_true", help="compare the bytes of pictures too")
    compare.add_argument("--shared", action="store_true", help="leave out what only one of the two recorded")
    batch = verbs.add_parser("batch", help=argparse.SUPPRESS)
    batch.add_argument("folder", type=Path)
    args = parser.parse_args(arguments)
    if args.verb == "batch":
        return run_batch(args.folder)
    if args.verb == "record":
        return make_record(args.folder.resolve(), args.only, args.cases)
    return compare_records(args.one, args.other, words=args.words, pictures=args.pictures, shared=args.shared)


def make_record(folder: Path, only: Sequence[str], pattern: str = "") -> int:
    """Run every case that has no file in `folder` yet, then describe the runs."""
    from tests.robustness.behaviour_cases import cases

    for name in ("work", "output", "results"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    wanted = [case for case in cases() if re.search(pattern, case.name)]
    # Figures and verbs read the runs that the results section makes.
    wanted = [case for case in wanted if case.section in only or case.section == "results"]
    missing = [case for case in wanted if not (folder / "output" / f"{case.name}.json").exists()]
    started = time.monotonic()
    print(f"{len(wanted)} cases, {len(missing)} to run", flush=True)
    while missing:
        run_cases(folder, missing)
        missing = [case for case in missing if not (folder / "output" / f"{case.name}.json").exists()]
    if "results" in only:
        for run in sorted((folder / "work" / "store").glob("*-*-*")):
            write_json(folder / "results" / f"{run.name}.json", described_run(run, folder))
    print(f"recorded in {folder} ({time.monotonic() - started:.0f} s)")
    return 0


def run_cases(folder: Path, missing: Sequence[Case]) -> None:
    """Run cases one after another in one process of low priority; what ends it is recorded as that case's end."""
    write_json(folder / "cases.json", [asdict(case) for case in missing])
    with subprocess.Popen(
        ["nice", "-n", "15", sys.executable, str(Path(__file__).resolve()), "batch", str(folder)],
        cwd=folder / "work",
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        done, since = 0, time.monotonic()
        while process.poll() is None:
            time.sleep(0.5)
            count = sum((folder / "output" / f"{case.name}.json").exists() for case in missing)
            if count > done:
                done, since = count, time.monotonic()
            if time.monotonic() - since > PATIENCE:
                os.killpg(process.pid, signal.SIGKILL)
    left = [case for case in missing if not (folder / "output" / f"{case.name}.json").exists()]
    if process.returncode and left:
        ended = {"section": left[0].section, "code": f"the process ended ({process.returncode})"}
        write_json(folder / "output" / f"{left[0].name}.json", ended)


def environment(folder: Path) -> dict[str, str]:
    """Return an environment of its own: no settings, caches or data of the user, one thread, two runs at a time."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GLT_", "XDG_", "COV_"))}
    own = {
        "HOME": str(folder / "work" / "home"),
        "MPLCONFIGDIR": str(folder / "work" / "home" / "matplotlib"),
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GLT_SLOTS": "2",
        "GLT_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    return kept | own


def run_batch(folder: Path) -> int:
    """Run the cases of `folder`/cases.json in this process, each as `python -m glt` or `python -m analysis` would."""
    for about in json.loads((folder / "cases.json").read_text()):
        case = Case(**{**about, "argv": tuple(about["argv"]), "files": tuple(about["files"])})
        print(case.name, flush=True)
        case = replace(case, argv=tuple(named(word, folder) for word in case.argv), before=named(case.before, folder))
        prepare(case.before)
        for name in case.files:
            with suppress(FileNotFoundError):
                Path(name).unlink()
        if case.section == "pages":
            write_json(folder / "output" / f"{case.name}.json", masked(opened_page(case, folder), folder))
            continue
        code, out, err = called(case, folder)
        files = {name: described(Path(name)) for name in case.files}
        messages = lines_of(err)
        # Runs that are computed at the same time end in any order.
        messages = sorted(messages) if case.section == "results" else messages
        kept = {"section": case.section, "code": code, "stderr": messages, "files": files}
        write_json(folder / "output" / f"{case.name}.json", masked(kept | standard_output(out, case), folder))
    return 0


def called(case: Case, folder: Path) -> tuple[int, bytes, bytes]:
    """Run one command in this process; return its exit code, standard output and standard error."""
    streams, saved = [folder / "work" / name for name in ("stdout", "stderr")], [os.dup(1), os.dup(2)]
    arguments, before = sys.argv, dict(os.environ)
    for number, path in enumerate(streams, 1):
        with path.open("wb") as stream:
            os.dup2(stream.fileno(), number)
    sys.argv = list(case.argv)
    os.environ.update(case.environment)
    try:
        code = exit_code(case.argv[0])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.argv = arguments
        os.environ.clear()
        os.environ.update(before)
        for number, copy in enumerate(saved, 1):
            os.dup2(copy, number)
            os.close(copy)
    return code, streams[0].read_bytes(), streams[1].read_bytes()


def exit_code(module: str) -> int:
    """Run a module as `python -m` does; return the code with which the process would end."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def standard_output(out: bytes, case: Case) -> dict[str, Any]:
    """Return a command's JSON document as `document`, or its lines as `stdout`."""
    try:
        document = json.loads(out)
    except ValueError:
        return {"stdout": lines_of(out)}
    kept = {"all": lambda: document, "names": lambda: names_of(document), "run": lambda: {"run": document["run"]}}
    return {"document": kept[case.keep]()}


def named(text: str, folder: Path) -> str:
    """Replace `{CASE}` by the name of the run that a case printed as JSON, `{CASE#2}` by that of a sweep's point 2."""

    def name(found: re.Match[str]) -> str:
        document = json.loads((folder / "output" / f"{found[1]}.json").read_text())["document"]
        return str(document["points"][int(found[2])]["run"] if found[2] else document["run"])

    return re.sub(r"\{([\w-]+)(?:#(\d+))?\}", name, text)


def prepare(what: str) -> None:
    """Do to the working folder what a case needs: `copy:FROM:TO`, `flip:FILE:BYTE`, `cut:FILE`, `remove:FILE`, ...

    Several are separated by spaces. FILE may be a pattern; the first match is taken.
    """
    for step in what.split():
        kind, first, *rest = step.split(":")
        if kind == "copy":
            shutil.rmtree(rest[0], ignore_errors=True)
            shutil.copytree(first, rest[0])
            continue
        if kind == "write":
            Path(first).parent.mkdir(parents=True, exist_ok=True)
            Path(first).write_bytes(base64.b64decode(rest[0]))
            continue
        path = min(Path().glob(first))
        content = path.read_bytes()
        if kind == "flip":
            at = int(rest[0])
            path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        elif kind == "cut":
            path.write_bytes(content[:-7])
        elif kind == "remove":
            path.unlink()
        else:
            raise ValueError(step)


def described_run(run: Path, folder: Path) -> dict[str, Any]:
    """Return every file of a run: hashes of tensors, the rest as it is without times."""
    found: dict[str, Any] = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if not path.is_file() or "lock" in path.name:
            continue
        value = described(path)
        # Hashes of lines that hold times.
        found[name] = names_of(value) if path.name == "checksums.jsonl" else value
    return masked(found, folder)


def described(path: Path) -> Any:
    """Return a description of a file by its suffix; None for a missing file."""
    return described_bytes(path.name, path.read_bytes()) if path.is_file() else None


def described_bytes(name: str, content: bytes) -> Any:
    """Describe a file's content: JSON as a value, text as lines, tensors as hashes, archives by member."""
    kind = name.rsplit(".", 1)[-1].lower()
    reader = READERS.get(kind)
    return reader(content) if reader else {"bytes": hashed(content)}


def tensors(content: bytes) -> dict[str, Any]:
    """Return type, shape and hash of each tensor of a safetensors file, and its metadata."""
    size = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + size]), content[8 + size :]
    found = {"metadata": header.pop("__metadata__", None)}
    for name, about in sorted(header.items()):
        first, last = about["data_offsets"]
        found[name] = [about["dtype"], about["shape"], hashed(data[first:last])]
    return found


def members(content: bytes) -> dict[str, Any]:
    """Return a description of each member of a zip."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: described_bytes(name, archive.read(name)) for name in archive.namelist()}


def pdf_text(content: bytes) -> dict[str, Any]:
    """Return the lines of a PDF's text and its number of pages."""
    lines = subprocess.run(["pdftotext", "-layout", "-", "-"], input=content, capture_output=True, check=True).stdout
    return {"text": [" ".join(line.split()) for line in lines_of(lines) if line.strip()], "picture": hashed(content)}


def svg_text(content: bytes) -> dict[str, Any]:
    """Return the sorted texts of an SVG (matplotlib names them in comments), its size and its colours."""
    text = content.decode()
    texts = re.findall(r"<!-- (.*?) -->", text, re.DOTALL) + re.findall(r"<text[^>]*>(.*?)</text>", text, re.DOTALL)
    colors = {color.lower() for color in re.findall(r"(?:fill|stroke): ?(#[0-9a-fA-F]{6})", text)}
    size = re.search(r'width="([^"]*)" height="([^"]*)"', text)
    return {
        "text": sorted(texts),
        "size": list(size.groups()) if size else None,
        "colors": " ".join(sorted(colors)),
        "picture": hashed(content),
    }


def png_size(content: bytes) -> dict[str, Any]:
    """Return width and height of a PNG in pixels."""
    return {"size": [int.from_bytes(content[at : at + 4], "big") for at in (16, 20)], "picture": hashed(content)}


def some_lines(content: bytes) -> Any:
    """Return the lines of a text; of a long one the first, how many there are and a hash of all."""
    lines = lines_of(content)
    if len(lines) <= MOST_LINES:
        return lines
    return {"lines": len(lines), "first": lines[:5], "rounded": hashed(rounded(content))}


def csv_rows(content: bytes) -> Any:
    """Return the lines of a CSV file without the values of columns of times."""
    text = content.decode("utf-8", "replace")
    hidden = [number for number, name in enumerate(text.split("\n", 1)[0].split(",")) if MASKED.match(name.strip())]
    if not hidden:
        return some_lines(content)
    rows, made = list(csv.reader(io.StringIO(text))), io.StringIO()
    for row in rows[1:]:
        row[:] = [MASK if number in hidden else cell for number, cell in enumerate(row)]
    csv.writer(made).writerows(rows)
    return some_lines(made.getvalue().encode())


def lines_of(content: bytes) -> list[str]:
    """Return lines without trailing blanks and without shares done."""
    lines = [line.rstrip() for line in content.decode("utf-8", "replace").splitlines()]
    return [line for line in lines if not PROGRESS.match(line)]


def json_lines(content: bytes) -> Any:
    """Return the values of a file of JSON lines; its text where it is damaged."""
    with suppress(ValueError):
        return [json.loads(line) for line in content.splitlines()]
    return some_lines(content)


def json_value(content: bytes) -> Any:
    """Return the value of a JSON file; of a long list hash, length and the first entries; text where it is damaged."""
    try:
        value = json.loads(content)
    except ValueError:
        return some_lines(content)
    if isinstance(value, list) and len(value) > MOST_LINES:
        return {"entries": len(value), "first": value[:3], "rounded": hashed(rounded(content))}
    return value


def hashed(content: bytes) -> str:
    """Return the first half of the SHA-256."""
    return hashlib.sha256(content).hexdigest()[:32]


READERS: dict[str, Callable[[bytes], Any]] = {
    "safetensors": tensors,
    "zip": members,
    "npz": members,
    "json": json_value,
    "jsonl": json_lines,
    "pdf": pdf_text,
    "svg": svg_text,
    "png": png_size,
    "csv": csv_rows,
    **dict.fromkeys(("tex", "md", "txt", "sh", "pgf", "graphml", "sha256"), some_lines),
}


def masked(value: Any, folder: Path, name: str = "") -> Any:
    """Return a value without what varies from call to call."""
    if MASKED.match(name) and not isinstance(value, dict | list) and value is not None:
        return MASK
    if NAMES_ONLY.match(name):
        return names_of(value)
    if isinstance(value, dict):
        # In a list of statements the name is a value beside what is stated.
        stated = "in_file" in value and any(isinstance(each, str) and MASKED.match(each) for each in value.values())
        value = {**value, "in_file": MASK} if stated else value
        return {masked_text(key, folder): masked(each, folder, key) for key, each in value.items()}
    if isinstance(value, list):
        return [masked(each, folder, name) for each in value]
    return masked_text(value, folder) if isinstance(value, str) else value


def masked_text(text: str, folder: Path) -> str:
    """Return a text without paths, times and numbers of processes."""
    text = text.replace(str(folder), "<folder>").replace(str(ROOT), "<root>")
    text = text.replace(sys.executable, "<python>")
    for pattern, instead in TEXT_MASKS:
        text = pattern.sub(instead, text)
    return text


def names_of(value: Any) -> Any:
    """Return the names in a document, with kinds in place of values."""
    if isinstance(value, dict):
        return {name: names_of(each) for name, each in value.items()}
    if isinstance(value, list):
        return [names_of(each) for each in value[:3]]
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def write_json(path: Path, value: Any) -> None:
    """Write a file whole or not at all."""
    path.with_suffix(".part").write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
    path.with_suffix(".part").replace(path)


def opened_page(case: Case, folder: Path) -> dict[str, Any]:
    """Open a page over the recorded store; return what its charts and tables hold, and its words."""
    from streamlit import config
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    os.environ.update({"GLT_STORE": str(folder / "work" / "store"), "XDG_STATE_HOME": str(folder / "work" / "state")})
    if config._main_script_path != str(MAIN):
        # `streamlit run` reads the settings beside the script, AppTest does not.
        config._main_script_path = str(MAIN)
        config.get_config_options(force_reparse=True)
    app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
    app._page_hash = calc_hash(case.argv[1])
    for word in case.argv[2:]:
        key, _, value = word.partition("=")
        app.query_params[key] = value.split(",,")
    app.run()
    charts = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    shown = {
        "exceptions": [each.value for each in app.exception],
        "charts": [chart_of(chart) for chart in charts],
        "tables": [table_of(each.value) for each in (*app.dataframe, *app.table)],
        "metrics": [str(each.value) for each in app.metric],
        "address": {key: app.query_params[key] for key in sorted(app.query_params)},
        "words": words_of(app),
    }
    return {"section": "pages", "code": int(bool(app.exception)), "document": shown}


def chart_of(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the points, names, colours and axes of a Plotly figure, in how many traces whatever they are drawn."""
    traces = chart["data"]
    points = {
        " ".join(f"{each:.9g}" if isinstance(each, int | float) else str(each) for each in pair)
        for trace in traces
        for pair in zip(values_of(trace.get("x", [])), values_of(trace.get("y", [])), strict=False)
        if not any(each is None or str(each) == "nan" for each in pair)
    }
    colors = {
        str(color).lower()
        for trace in traces
        for color in (trace.get("line", {}).get("color"), trace.get("marker", {}).get("color"), trace.get("fillcolor"))
        if isinstance(color, str)
    }
    return {
        "points": some_lines("\n".join(sorted(points)).encode()),
        "names": sorted({trace["name"] for trace in traces if trace.get("name")}),
        "colors": " ".join(sorted(colors)),
        "axes": axes_of(chart),
        "picture": hashed(json.dumps(traces).encode()),
    }


def values_of(values: Any) -> list[Any]:
    """Return the numbers or words of one axis of a trace."""
    if isinstance(values, dict):
        kind = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}
        return list(array(kind[values["dtype"]], base64.b64decode(values["bdata"])))
    return list(values) if isinstance(values, list) else []


def axes_of(chart: dict[str, Any]) -> list[str]:
    """Return the titles of a Plotly figure's axes."""
    axes = [value for name, value in chart.get("layout", {}).items() if name[1:5] == "axis" and isinstance(value, dict)]
    return sorted(filter(None, (axis.get("title", {}).get("text") for axis in axes)))


def table_of(table: Any) -> Any:
    """Return the rows of a table as lines, numbers to nine digits."""
    return some_lines(table.to_csv(float_format="%.9g").encode())


def words_of(app: Any) -> list[str]:
    """Return the texts of a page, and the label and choices of every control."""
    lines = []
    for element in app.main:
        label, choices = getattr(element, "label", ""), getattr(element, "options", "")
        value = element.value if element.type in TEXTS else ""
        if element.type not in ("main", "flex_container", "column"):
            lines.append(" | ".join(str(each) for each in (element.type, label, choices, value) if each))
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
