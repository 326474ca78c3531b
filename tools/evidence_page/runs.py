"""What was measured: the runs of docs/evidence/*.csv, a file a sweep, and the rates of docs/performance/*.csv."""

import csv
import functools
import pathlib
import re
import types

from evidence_page.paired import Values

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"

# The metric of a file, if no other column is asked for: the first of these that it has.
METRICS = ("top-1", "test BLEU", "box AP", "test perplexity", "as trained", "loss")
# Columns that hold fractions and are written as percent.
PERCENT = re.compile(r"(training |best )?top-\d( stderr)?|(best )?(box|mask) A[PR].*|as trained|zeroed|shuffled between layers|frozen"
                     r"|per_sample|renewed|(gradient )?pnac (first|last)")


class Variant(Values):
    """The runs of a sweep that differ by their seed alone: their metric, and by index that of any other column."""

    def __init__(self, name, rows, column):
        self.name, self.rows = name, rows
        scale = 100 if PERCENT.fullmatch(column) else 1
        super().__init__({int(row.get("seed", number)): scale * float(row[column])
                          for number, row in enumerate(rows) if row[column]})

    def __getitem__(self, column):
        return Variant(self.name, self.rows, column)

    def count(self, column):
        """A number that all seeds share."""
        values = {row[column] for row in self.rows}
        if len(values) != 1:
            raise ValueError(f"the seeds of {self.name} differ in {column}: {', '.join(sorted(values))}")
        return float(values.pop())

    parameters = property(lambda self: self.count("parameters"))
    linear_macs = property(lambda self: self.count("MACs"))
    attention_macs = property(lambda self: self.count("attention MACs"))
    macs = property(lambda self: self.linear_macs + self.attention_macs)

    def finished(self):
        """Without the runs that did not finish."""
        ended = {int(row["seed"]) for row in self.rows if row["state"] == "finished"}
        return Values({seed: value for seed, value in self.items() if seed in ended})

    def with_failures_as(self, chance):
        """A run that did not finish counts as `chance`, also if it has no value."""
        ended = self.finished()
        return Values({int(row["seed"]): ended.get(int(row["seed"]), chance) for row in self.rows})


class Sweep:
    """A file: its variants are attributes (vit_norms.layer) or, for any name, items (text_kernels['2glu'])."""

    def __init__(self, path):
        with path.open(newline="") as file:
            self.rows = list(csv.DictReader(file))
        self.name = path.stem
        self.metric = next(metric for metric in METRICS if metric in self.rows[0])
        self.variants = {}
        for row in self.rows:
            run = row.get("run", "")
            name = re.sub(rf"[-/](seed-)?{row['seed']}$", "", run) if "seed" in row else run
            self.variants.setdefault(name, []).append(row)

    def __getitem__(self, name):
        if name not in self.variants:
            raise ValueError(f"docs/evidence/{self.name}.csv has no runs '{name}'; it has {', '.join(self.variants)}")
        return Variant(f"{self.name}: {name}", self.variants[name], self.metric)

    def __getattr__(self, name):
        return self[name]

    def column(self, name):
        """The values of a file whose lines are not runs, such as the steps of one."""
        return [float(row[name]) for row in self.rows]


class Measurements:
    """A file of docs/performance. Called, it gives a column of the rows whose other columns have these values; `processor` is
    the beginning of the processor's name."""

    def __init__(self, path):
        with path.open(newline="") as file:
            self.rows = list(csv.DictReader(file))
        self.name = path.stem

    def __call__(self, column, processor="", **wanted):
        found = [float(row[column]) for row in self.rows
                 if row["processor"].startswith(processor) and all(row[name] == value for name, value in wanted.items())]
        if not found:
            raise ValueError(f"docs/performance/{self.name}.csv has no row with {wanted}")
        return found


@functools.cache
def measured():
    """The names that a page's expressions see: a sweep each, and `rates` with a file of docs/performance each."""
    rates = {path.stem: Measurements(path) for path in (DOCS / "performance").glob("*.csv")}
    return {path.stem: Sweep(path) for path in (DOCS / "evidence").glob("*.csv")} | {"rates": types.SimpleNamespace(**rates)}
