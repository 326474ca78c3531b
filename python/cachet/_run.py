"""Opens folders that the command wrote: runs, checkpoints, model folders and exports."""
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
        folder: the path of the folder.

    The member `path` is the path of the folder. The member `kind` is "run", "checkpoint", "model" or "export". The
    member `recipe` has the values of the run's recipe, as nested dictionaries.

    Raises:
        FileNotFoundError: If the folder does not exist.
        ValueError: If the folder is neither a run, a checkpoint, a model folder nor an export, or if a file in the
            folder is damaged or of a newer version.
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
        """The status of the run, such as "running", "finished" or "interrupted".

        If the process of a run was killed, the status is still "running".
        """
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
                raise ValueError(f"{file}: its schema is {event['schema']}; use a newer cachet-torch")
            if event.get("kind") == kind:
                events.append(event)
        return events

    def metrics(self, kind: EventKind = "step") -> dict[str, np.ndarray[Any, Any]]:
        """Returns the measurements as arrays of the same length, in the order of the steps.

        Args:
            kind: the kind of the measurements. "step": measurements of training, at the interval train.log_every.
                "evaluation": measurements on held-out data.

        Returns:
            A dictionary with the arrays step and epoch (int64), and with one array (float64) for each measured
            quantity, such as loss, lr, top1 and seconds. If a record of the log lacks a quantity, the array of this
            quantity has NaN for this record.

        Raises:
            ValueError: If the folder does not belong to a run.
        """
        events = self._events(kind)
        columns = {name: np.array([event[name] for event in events], dtype=np.int64) for name in ("step", "epoch")}
        numbers = [{**event.get("machine", {}), **event.get("metrics", {})} for event in events]
        for name in dict.fromkeys(name for each in numbers for name in each):
            values = [each.get(name) for each in numbers]
            columns[name] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return columns

    def series(self, kind: EventKind = "step") -> dict[str, np.ndarray[Any, Any]]:
        """Returns the measurements of layers, such as the mixing gates of heads, by their names.

        Each measurement is a float64 array (records, values), with one row for each record of the log.

        Args:
            kind: see metrics.
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
        """Returns the arrays of metrics as a pandas.DataFrame, indexed by the step.

        Args:
            kind: see metrics.

        Raises:
            ImportError: If pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("Run.frame needs pandas. Run: pip install pandas; or use Run.metrics") from None
        return pandas.DataFrame(self.metrics(kind)).set_index("step")

    # --- what was trained --------------------------------------------------------------------------------------------

    def checkpoints(self) -> list[int]:
        """Returns the steps of the existing checkpoints, in ascending order."""
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
        """Returns the weights and the states of norms and caches, by their names.

        Args:
            checkpoint: the checkpoint of a run: "best", "last", or the number of its training step. If no checkpoint
                was evaluated, "best" is the last checkpoint.
            averaged: if true and the run has averaged weights (train.ema_decay), the function returns the averaged
                weights. If a run has averaged weights, the `cachet` command also uses the averaged weights.

        Raises:
            ValueError: If the run does not have this checkpoint, or if the file of the checkpoint is damaged.
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
            raise ValueError(f"{folder}: is an export for {engine}, whose tensors have no names; open its run")
        return _files.read_safetensors(file)

    def model(self, checkpoint: Literal["best", "last"] | int = "best", *, averaged: bool = True) -> nn.Module:
        """Returns the trained model in evaluation mode, as a module made of the layers of cachet.nn.

        The parameters and buffers of the module have the names of the C++ model, so the state dict of the module equals
        that of the checkpoint. The inputs of the returned module depend on the kind of the model. A classifier of
        images takes images (B, C, H, W), prepared as in training. A classifier of sequences takes token ids (B, L) and
        padding. A language model takes token ids and a state. The module has neither dropout nor stochastic depth, even
        in training mode.

        Args:
            checkpoint: see state_dict.
            averaged: see state_dict.

        Raises:
            NotImplementedError: If cachet.nn has no module for the model or one of its parts. If a module is missing,
                predict() still works, because it runs the command.
            ValueError: If the folder has no checkpoint, or if its weights do not belong to the model of the recipe.
        """
        if self.kind == "export":
            raise NotImplementedError(
                f"{self.path}: an export has folded weights, which no module can load; open the run, or use predict()"
            )
        model = _models.build(self._values)
        try:
            model.load_state_dict(self.state_dict(checkpoint, averaged=averaged))
        except RuntimeError as error:
            raise ValueError(f"{self.path}: its weights do not belong to the model of its recipe: {error}") from None
        return model.eval()

    def predict(
        self,
        samples: Sequence[str | os.PathLike[str]] | None = None,
        *,
        top: int = 5,
        logits: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        """Returns the predictions of `cachet predict`, or of `cachet translate` for a translation model.

        Args:
            samples: paths of images, or texts. The two texts of a pair are separated by a tab. If `samples` is not
                given, the command uses the test split.
            top: the number of classes that each prediction lists.
            logits: whether predictions also have the logits of all classes.
            settings: keys of the recipe to change, such as {"data.root": "images"}.

        Returns:
            An object for each sample.

        Raises:
            CommandError: If the command failed. The message of the exception is the error message of the command.
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
