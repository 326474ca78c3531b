"""Starts the training command from Python."""
from __future__ import annotations

import datetime
import os
import pathlib
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cachet import _command
from cachet._run import EventKind, Run


def _new_folder(runs: pathlib.Path, recipe: str) -> pathlib.Path:
    """Returns runs/<date>-<recipe>. If this folder exists, a number follows the name."""
    name = f"{datetime.datetime.now(datetime.timezone.utc):%Y%m%d}-{pathlib.Path(recipe).stem}"
    folder, number = runs / name, 2
    while folder.exists():
        folder, number = runs / f"{name}-{number}", number + 1
    return folder


class Training:
    """A training run of the command, in another process. cachet.train starts it.

    The member `path` is the folder of the run. The member `process` is a subprocess.Popen.
    """

    def __init__(self, arguments: Sequence[str], path: pathlib.Path, show: bool) -> None:
        self.path = path
        self._messages = tempfile.TemporaryFile()
        self._text: str | None = None
        # In a session of its own: Ctrl-C on a terminal would reach it twice.
        self.process = subprocess.Popen(
            [str(_command.BINARY), *arguments],
            env=_command.environment(),
            stdin=subprocess.DEVNULL,
            stdout=None if show else subprocess.DEVNULL,
            stderr=self._messages,
            start_new_session=True,
        )

    def __repr__(self) -> str:
        code = self.process.poll()
        return f"Training({str(self.path)!r}, {'running' if code is None else f'ended with status {code}'})"

    def done(self) -> bool:
        """Returns whether the process has ended."""
        return self.process.poll() is not None

    def stop(self) -> None:
        """Makes the command save a checkpoint and end, as Ctrl-C does.

        After stop(), wait() returns the run.
        """
        if not self.done():
            self.process.send_signal(signal.SIGINT)

    def wait(self, timeout: float | None = None) -> Run:
        """Waits until the training has ended.

        Ctrl-C is passed on to the command, which saves a checkpoint and ends. Then wait() raises KeyboardInterrupt.

        Args:
            timeout: the maximum time in seconds. None: no limit.

        Returns:
            The run.

        Raises:
            CommandError: If the command failed. The message of the exception is the error message of the command.
            TimeoutError: If the training has not ended after timeout seconds. The training continues.
        """
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{self.path}: the training has not ended after {timeout} s") from None
        except KeyboardInterrupt:
            self.stop()
            self.process.wait()
            raise
        if code and code != 128 + signal.SIGINT:
            raise self._failure(code)
        self._messages.close()
        return Run(self.path)

    def _failure(self, code: int) -> _command.CommandError:
        if self._text is None:
            with self._messages as messages:
                messages.seek(0)
                self._text = messages.read().decode(errors="replace")
        return _command.failure(self._text, code)

    def metrics(self, kind: EventKind = "step") -> dict[str, np.ndarray[Any, Any]]:
        """Returns the measurements that the run has logged so far, see Run.metrics.

        Args:
            kind: see Run.metrics.

        Raises:
            CommandError: If the command failed before it created the folder of the run. The message of the exception is
                the error message of the command.
        """
        if not (self.path / "run.json").is_file():
            if self.process.poll():
                raise self._failure(self.process.returncode)
            return {"step": np.empty(0, np.int64), "epoch": np.empty(0, np.int64)}
        return Run(self.path).metrics(kind)


def train(
    recipe: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    run: str | os.PathLike[str] | None = None,
    runs: str | os.PathLike[str] = "runs",
    resume: bool = False,
    settings: Mapping[str, Any] | None = None,
    processes: int = 1,
    show: bool = False,
) -> Training:
    """Starts `cachet train` in another process.

    Args:
        recipe: the file of a recipe, or the name of a recipe that `cachet recipes` lists. If `data` is given, `recipe`
            can also be the name of a model. If `resume` is true, `recipe` is the folder of a run.
        data: a folder or files of your own data.
        run: the folder of the run. If `run` is not given, the folder is <runs>/<date>-<recipe>.
        runs: the folder of runs.
        resume: if true, the run in the folder `recipe` is resumed.
        settings: keys of the recipe to change, such as {"train.epochs": 20, "model.cache.kind": "grc"}.
        processes: the number of processes on this machine that train the model together.
        show: whether the command prints its progress.

    Returns:
        The training, which is running. The command continues even if the Python process ends.

    Example: `run = cachet.train("demo_cached", settings={"train.limit": "20 steps"}).wait()`
    """
    name = os.fspath(recipe)
    words = ["train", name]
    if resume:
        if run is not None:
            raise ValueError("train: with resume=True, recipe is the folder of the run; leave out the argument run")
        path = pathlib.Path(name)
        words.append("--resume")
    else:
        path = pathlib.Path(run) if run is not None else _new_folder(pathlib.Path(runs), name)
        words += ["--run", str(path)]
    if data is not None:
        words += ["--data", os.fspath(data)]
    if processes != 1:
        words += ["--processes", str(processes)]
    words += ["--progress", "plain" if show else "none", *_command.settings(settings)]
    return Training(words, path, show)
