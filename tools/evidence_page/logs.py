"""Folders of runs, as tools that read logs take them."""

import pathlib
import sys


def runs_in(folder):
    """[(path, name)…] of a run or of all runs in a folder. Ends the program if there is none."""
    folder = pathlib.Path(folder)
    if (folder / "metrics.jsonl").is_file():
        return [(folder, folder.name)]
    found = sorted(path.parent for path in folder.rglob("metrics.jsonl"))
    if not found:
        sys.exit(f"{folder} is not a run and holds none; name the folder of a sweep, of seeds or of a run")
    return [(path, path.relative_to(folder).as_posix()) for path in found]
