"""The command `cachet`, which prints the content of the pages of reference."""

import json
import os
import pathlib
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/app"))

from forked_commands import ForkedCommands  # noqa: E402


class Program:
    """A command of this checkout or an installed one. Its answers depend neither on where data lie nor on the terminal."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        # Next to the command of a build with tests: copies of one process run the commands, some times as fast.
        self.forked, self.clients = self.path.parent / "forked_commands", threading.local()
        os.environ.update({"CACHET_DATA": str(ROOT), "COLUMNS": "200", "LC_ALL": "C.UTF-8"})

    def run(self, *arguments):
        """The exit status, standard output and standard error."""
        if self.forked.is_file():
            if not hasattr(self.clients, "of_thread"):
                self.clients.of_thread = ForkedCommands(self.forked, 1)
            done = self.clients.of_thread.run(*arguments, cwd=ROOT)
        else:
            done = subprocess.run([self.path, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
        return done.returncode, done.stdout, done.stderr

    def text(self, *arguments):
        """Standard output of a call that must succeed."""
        status, output, complaint = self.run(*arguments)
        if status:
            raise SystemExit(f"docs-reference: cachet {' '.join(arguments)} failed: {complaint.strip()}")
        return output

    def json(self, *arguments):
        return json.loads(self.text(*arguments, "--json"))
