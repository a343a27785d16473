"""One round as it trains: scores and loss of every epoch, a panel a run."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from analysis.curves.thinning import drawn_places
from analysis.curves.training import TEST, VALIDATION
from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, Drawing, Keys, PaperFigure, shown_round
from analysis.export.figures.curve_layers import DASHES
from analysis.export.figures.legend import KEY_INK, line_key
from analysis.export.figures.panel_row import PanelRow, name_panels
from analysis.export.figures.run_lines import DOTTED, stroke
from analysis.export.figures.words import plain
from analysis.labels import metric_label, run_labels
from analysis.tables.rounds import epochs_table
from glt.errors import StoreError
from glt.store import Run

# A solid line that stays one in greys, where a colour of a method would ask for the method's dashes.
SOLID = (0, ())
LOSS, LOSS_DASH = KEY_INK, DASHES[3]
# Points of a stage's line: more than a printer sets on a column; the table beside the picture has every epoch.
MOST_DRAWN = 3000


def training(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan the epochs of one round of each run; raises StoreError when none of them has kept any."""
    table = pd.concat([_epochs(run, choices, label) for run, label in _labelled(runs)], ignore_index=True)
    if table.empty:
        raise StoreError("These runs keep no epochs of this round: choose another round, or other runs.")
    panels = [rows for _, rows in table.groupby("run", sort=False)]
    metrics = {run.reference: metric_label(run.config.dataset, run.config.task) for run in runs}
    row = PanelRow(len(panels), width, ratio=0.7)

    def fill(figure: FigureBase) -> Keys:
        areas = row.areas(figure)
        for place, (area, rows) in enumerate(zip(areas, panels, strict=True)):
            metric = metrics[rows["run"].iloc[0]]
            loss = _draw(area, rows)
            if row.is_first(place):
                area.set_ylabel(f"{metric[:1].upper()}{metric[1:]} (%)")
            if row.is_first(place + 1) or place == len(panels) - 1:
                loss.set_ylabel("Loss")
        name_panels(areas, [rows["label"].iloc[0] for rows in panels])
        metric = " or ".join(dict.fromkeys(metrics.values()))
        scores = [line_key(f"Validation {metric}", VALIDATION, SOLID), line_key(f"Test {metric}", TEST, DASHES[1])]
        return Keys(scores, [line_key("Loss", LOSS, LOSS_DASH, 0.8)])

    return Drawing(table, _caption(table), row.height, fill)


def _labelled(runs: Sequence[Run]) -> list[tuple[Run, str]]:
    labels = run_labels(runs)
    return [(run, labels[run.reference]) for run in runs]


def _epochs(run: Run, choices: FigureChoices, label: str) -> pd.DataFrame:
    seed, number = shown_round(run, choices)
    about = {"run": run.reference, "label": label, "method": run.config.method, "seed": seed.seed, "round": number}
    table = epochs_table(seed.event_file.epochs(number)[0])
    for place, (name, value) in enumerate(about.items()):
        table.insert(place, name, value)
    return table


def _draw(area: Axes, rows: pd.DataFrame) -> Axes:
    """Draw the stages of a round and return the axes of the loss."""
    loss = area.twinx()
    loss.grid(visible=False)
    loss.spines["right"].set_visible(True)
    loss.tick_params(axis="y", length=2.5)
    for number, (stage, whole) in enumerate(rows.groupby("stage", sort=False)):
        part = whole.iloc[drawn_places(whole[["loss", "val", "test"]], MOST_DRAWN)]
        stroke(loss, part["at"], part["loss"], LOSS, LOSS_DASH, linewidth=0.8)
        stroke(area, part["at"], 100 * part["val"], VALIDATION, SOLID)
        stroke(area, part["at"], 100 * part["test"], TEST, DASHES[1])
        start = whole["at"].iloc[0] - whole["epoch"].iloc[0] + 1
        if number:
            area.axvline(start, color="#AAAAAA", linewidth=0.5, linestyle=DOTTED)
        where = (start, 1), (2, -1), area.get_xaxis_transform(), "offset points"
        area.annotate(plain(str(stage)), *where, ha="left", va="top", fontsize="small", color=KEY_INK)
    low, high = area.get_ylim()
    # Room under the upper edge for the names of the stages.
    area.set_ylim(low, high + 0.12 * (high - low))
    loss.set_ylim(bottom=0)
    area.set_xlabel("Epoch of the round")
    return loss


def _caption(table: pd.DataFrame) -> str:
    first = table.drop_duplicates("run")
    told = [f"{label}, seed {seed}, round {number}" for label, seed, number in zip(*map(first.get, ABOUT), strict=True)]
    return f"Every epoch that was kept of one round: {'; '.join(told)}. The loss is on the right axis."


ABOUT = ("label", "seed", "round")
FIGURES.register(
    PaperFigure("training", "Training curves of a round", "curves", training, frozenset({"round", "seed"}))
)
