"""What the command wrote, opened from Python: runs, checkpoints, model folders and exports."""
from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from torch import Tensor, nn

from cachet import _command, _files, _models

Kind = Literal["run", "checkpoint", "model", "export"]
EventKind = Literal["step", "evaluation"]
_EXPORTS = 4  # the newest version of export.json that is read


def _kind_of(folder: pathlib.Path) -> Kind:
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: there is no such folder")
    kinds: dict[str, Kind] = {
        "run.json": "run", "export.json": "export", "manifest.json": "checkpoint", "config.json": "model"
    }
    for name, kind in kinds.items():
        if (folder / name).is_file():
            return kind
    raise ValueError(
        f"{folder}: is not a run, checkpoint, model folder or export: it has none of {', '.join(kinds)}"
    )


class Run:
    """A run that the command trained, one of its checkpoints, a model folder or an export.

    Args:
        folder: its path.

    Members: path; kind, "run", "checkpoint", "model" or "export"; recipe, the values that the run had, as tables.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: the folder is not one of these, or a file in it is damaged or of a newer version.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(folder)
        self.kind: Kind = _kind_of(self.path)
        self._of_run = self.path.parent.parent if self.kind == "checkpoint" else self.path
        self._values = self._read_values()
        self.recipe: dict[str, Any] = _files.nested(self._values)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _read_values(self) -> dict[str, Any]:
        if self.kind == "export":
            _files.read_json(self.path / "export.json", newest=_EXPORTS, version="version")
        if self.kind == "model":
            _files.read_json(self.path / "config.json")
        if self.kind in ("export", "model"):
            return _files.read_recipe(self.path / "recipe.toml")
        file = self._of_run / "run.json"
        if not file.is_file():
            raise ValueError(f"{self.path}: is a checkpoint without its run: {file} is missing")
        values = _files.read_json(file).get("values")
        if not isinstance(values, dict):
            raise ValueError(f"{file}: is damaged: it has no values")
        try:
            return {key: _files.read_value(text)[0] for key, text in values.items()}
        except (ValueError, AttributeError) as error:
            raise ValueError(f"{file}: is damaged: {error}") from None

    # --- what was measured -------------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """How the run ended ("finished", "interrupted", …); "running" also if its process was killed."""
        file = self._of_run / "status.json"
        if self.kind in ("export", "model") or not file.is_file():
            raise ValueError(f"{self.path}: has no status; only runs have one")
        return str(_files.read_json(file).get("state"))

    def _events(self, kind: EventKind) -> list[dict[str, Any]]:
        if kind not in ("step", "evaluation"):
            raise ValueError(f'run: kind: "{kind}" is not one of "step", "evaluation"')
        if self.kind in ("export", "model"):
            raise ValueError(f"{self.path}: has no metrics; only runs have them")
        file = self._of_run / "metrics.jsonl"
        events = []
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            try:
                event = json.loads(line)
            except ValueError:
                continue  # a line that is damaged, or being written, costs only itself
            if event.get("schema", 1) > 1:
                raise ValueError(f"{file}: its schema is {event['schema']}; use a newer cachet-torch, which knows it")
            if event.get("kind") == kind:
                events.append(event)
        return events

    def metrics(self, kind: EventKind = "step") -> dict[str, np.ndarray[Any, Any]]:
        """What was measured, as arrays of one length, in the order of the steps.

        Args:
            kind: "step": in training, each train.log_every; "evaluation": on held-out data.

        Returns:
            step and epoch (int64), and all numbers of the lines by name (float64), such as loss, lr, top1, seconds;
            NaN if a line does not have one.

        Raises:
            ValueError: the folder is not of a run.
        """
        events = self._events(kind)
        columns = {name: np.array([event[name] for event in events], dtype=np.int64) for name in ("step", "epoch")}
        numbers = [{**event.get("machine", {}), **event.get("metrics", {})} for event in events]
        for name in dict.fromkeys(name for each in numbers for name in each):
            values = [each.get(name) for each in numbers]
            columns[name] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return columns

    def series(self, kind: EventKind = "step") -> dict[str, np.ndarray[Any, Any]]:
        """Measurements of layers, such as the mixing gates of heads, by name: float64 (lines of the file, values).

        Args:
            kind: as of metrics.
        """
        events = [event.get("series", {}) for event in self._events(kind)]
        names = dict.fromkeys(name for each in events for name in each)
        columns = {}
        for name in names:
            width = max(len(each.get(name, ())) for each in events)
            rows = np.full((len(events), width), np.nan)
            for row, each in zip(rows, events, strict=True):
                values = each.get(name, ())
                row[: len(values)] = values
            columns[name] = rows
        return columns

    def frame(self, kind: EventKind = "step") -> Any:
        """The arrays of metrics as a pandas.DataFrame, indexed by the step.

        Args:
            kind: as of metrics.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("Run.frame needs pandas. Run: pip install pandas; or use Run.metrics") from None
        return pandas.DataFrame(self.metrics(kind)).set_index("step")

    # --- what was trained --------------------------------------------------------------------------------------------

    def checkpoints(self) -> list[int]:
        """The steps of the checkpoints that are there, ascending."""
        if self.kind != "run":
            raise ValueError(f"{self.path}: has no checkpoints; only runs have them")
        folders = (self.path / "checkpoints").glob("step-*")
        return sorted(int(each.name[5:]) for each in folders if each.name[5:].isdigit())

    def _checkpoint(self, which: Literal["best", "last"] | int) -> pathlib.Path:
        if self.kind != "run":
            return self.path
        folder = self.path / "checkpoints"
        if isinstance(which, int):
            found = folder / f"step-{which:08}"
            if not found.is_dir():
                raise ValueError(f"{self.path}: has no checkpoint of step {which}; it has {self.checkpoints()}")
            return found
        if which not in ("best", "last"):
            raise ValueError(f'run: checkpoint: "{which}" is not "best", "last" or a step')
        for name in dict.fromkeys((which, "last")):
            if (folder / name).is_file():
                return folder / (folder / name).read_text(encoding="utf-8").strip()
        steps = self.checkpoints()
        if not steps:
            raise ValueError(f"{self.path}: has no checkpoint yet")
        return folder / f"step-{steps[-1]:08}"

    def state_dict(
        self, checkpoint: Literal["best", "last"] | int = "best", *, averaged: bool = True
    ) -> dict[str, Tensor]:
        """The weights, states of norms and caches by their names.

        Args:
            checkpoint: of a run: the best one (the last one if none was evaluated), the last one, or that of a step.
            averaged: the averaged weights if the run has them (train.ema_decay), as the command reads them.

        Raises:
            ValueError: there is no such checkpoint, or its file is damaged.
        """
        folder = self._checkpoint(checkpoint)
        if self.kind in ("run", "checkpoint"):
            listed = _files.read_json(folder / "manifest.json").get("files", {})
            name = "ema.safetensors" if averaged and "ema.safetensors" in listed else "model.safetensors"
            digest = listed.get(name, {}).get("sha256")
            if not isinstance(digest, str):
                raise ValueError(f"{folder / 'manifest.json'}: is damaged: it does not list {name}")
            return _files.read_safetensors(folder / name, digest)
        file = folder / "model.safetensors"
        if not file.is_file():
            engine = _files.read_json(folder / "export.json", newest=_EXPORTS, version="version").get("engine")
            raise ValueError(f"{folder}: is an export for {engine}, which has no tensors by name; open its run")
        return _files.read_safetensors(file)

    def model(self, checkpoint: Literal["best", "last"] | int = "best", *, averaged: bool = True) -> nn.Module:
        """The trained model as a module made of cachet.nn, in evaluation mode.

        It has the C++ names, so that its state dict is that of the checkpoint. Its arguments are images (B, C, H, W)
        prepared as in training for a classifier of images, ids (B, L) and padding for a classifier of sequences, and
        ids and a state for a language model. In training mode it has neither dropout nor stochastic depth.

        Args:
            checkpoint: as of state_dict.
            averaged: as of state_dict.

        Raises:
            NotImplementedError: the model or one of its parts has no module in cachet.nn; predict() runs the command.
            ValueError: the folder has no checkpoint, or its weights are not those of the recipe's model.
        """
        if self.kind == "export":
            raise NotImplementedError(
                f"{self.path}: an export has folded weights, and no module takes them; open the run, or use predict()"
            )
        model = _models.build(self._values)
        try:
            model.load_state_dict(self.state_dict(checkpoint, averaged=averaged))
        except RuntimeError as error:
            raise ValueError(f"{self.path}: its weights are not those of its recipe's model: {error}") from None
        return model.eval()

    def predict(
        self,
        samples: Sequence[str | os.PathLike[str]] | None = None,
        *,
        top: int = 5,
        logits: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        """What `cachet predict` answers, or for a translation model `cachet translate`.

        Args:
            samples: paths of images, or texts; None: the test split. Texts of pairs have a tab between them.
            top: classes to name for each sample.
            logits: whether to add what the model gives for every class.
            settings: keys of the recipe to change, such as {"data.root": "images"}.

        Returns:
            An object for each sample.

        Raises:
            CommandError: the command failed; the message is its text.
        """
        given = [os.fspath(sample) for sample in samples] if samples is not None else None
        changed = _command.settings(settings)
        if self._values.get("task.kind") == "translation":
            if given is None:
                raise ValueError("Run.predict: a translation model needs texts")
            lines = "".join(sample + "\n" for sample in given)
            text = _command.run(
                ["translate", str(self.path), "-", "--json", "--progress", "none", *changed], input=lines
            )
        else:
            more = ["--logits"] if logits else []
            words = ["predict", str(self.path), "--json", "--top", str(top), "--progress", "none", *more, *changed]
            text = _command.run([*words, *(["--", *given] if given is not None else [])])
        return [json.loads(line) for line in text.splitlines()]
