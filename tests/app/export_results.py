"""What the export matrix found, case by case: stored in a folder, so that a run of hours may stop at any time, and printed as a table."""
import collections
import dataclasses
import hashlib
import json
import os
import pathlib
import re


@dataclasses.dataclass(frozen=True)
class Target:
    """An export of a case, or why there is none."""
    engine: str
    precision: str
    refusal: str = ""
    # Of its answers from those of the run: the fields of Difference.
    largest: float = 0.0
    total: float = 0.0
    changed: int = 0
    clearly: int = 0
    samples: int = 0


def digest_of(command):
    """Of the command and of Cachet's own libraries, in the folder of the build or of the installed package, and of these tests."""
    folder = pathlib.Path(command).resolve().parent
    places = (folder / "lib", folder.parent / "lib")
    libraries = sorted(path for place in places for path in place.glob("libcachet*.so.*") if not path.is_symlink())
    tests = sorted(pathlib.Path(__file__).parent.glob("export_*.py"))
    digest = hashlib.sha256()
    for path in [pathlib.Path(command), *libraries, *tests]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class Results:
    """A file for each case that passed, in a folder for each build; only in memory if there is no folder."""

    def __init__(self, folder, command):
        self.folder = folder and pathlib.Path(folder) / digest_of(command)
        self.cases = {}
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
            for path in self.folder.glob("*.json"):
                self.cases[path.stem] = [Target(**target) for target in json.loads(path.read_text())]

    def keep(self, case, targets):
        self.cases[case] = targets
        if self.folder:
            unfinished = self.folder / f"{case}.unfinished"
            unfinished.write_text(json.dumps([dataclasses.asdict(target) for target in targets]))
            os.replace(unfinished, self.folder / f"{case}.json")


def reason_of(refusal):
    """Without the numbers and the names of files of one case."""
    return re.sub(r"[\d.]+(e-?\d+)?", "N", refusal.split("; ")[-1] if "was not saved" in refusal else refusal)


def table(targets, bounds):
    """In Markdown: the differences of each engine and precision, how many exports are beyond a bound, and why exports were refused."""
    rows = ["| engine | precision | exports | answers | largest difference | mean difference | other class | beyond the bound | refused |",
            "|---|---|---|---|---|---|---|---|---|"]
    reasons = collections.Counter()
    for engine, precision in dict.fromkeys((target.engine, target.precision) for target in targets):
        these = [target for target in targets if (target.engine, target.precision) == (engine, precision)]
        kept = [target for target in these if not target.refusal]
        answers = sum(target.samples for target in kept)
        reasons.update((engine, precision, reason_of(target.refusal)) for target in these if target.refusal)
        rows.append(f"| {engine} | {precision} | {len(kept)} | {answers} | {max((target.largest for target in kept), default=0):.2g} | "
                    f"{sum(target.total for target in kept) / max(1, answers):.2g} | {sum(target.changed for target in kept)} | "
                    f"{sum(target.largest > bounds[precision] for target in kept)} of {bounds[precision]:g} | {len(these) - len(kept)} |")
    return "\n".join(rows + [f"refused, {engine} {precision}, {count} times: {reason}"
                             for (engine, precision, reason), count in sorted(reasons.items())])
