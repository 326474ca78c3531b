"""Commands that do not start a program each: see forked_commands.cpp."""
import json
import os
import pathlib
import subprocess
import tempfile


class ForkedCommands:
    """Runs commands as `command.run` does, through the program forked_commands: with so many threads, or as many as the
    environment sets."""

    def __init__(self, program, threads=None):
        self.scratch = tempfile.TemporaryDirectory()
        # OpenMP reads these when the program starts. Threads that wait for each other sleep: other cases have work for the cores.
        variables = {"OMP_WAIT_POLICY": "passive", **({"OMP_NUM_THREADS": str(threads)} if threads else {})}
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables})

    def run(self, *words, cwd, timeout=300, stdin=""):
        files = {name: str(pathlib.Path(self.scratch.name, name)) for name in ("stdin", "stdout", "stderr")}
        pathlib.Path(files["stdin"]).write_text(stdin)
        request = {"words": words, "folder": str(cwd), "seconds": timeout, **files}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"forked_commands ended: {self.process.wait()}")
        said = [pathlib.Path(files[name]).read_text() for name in ("stdout", "stderr")]
        return subprocess.CompletedProcess(words, int(answer), *said)

    def close(self):
        self.process.communicate()
        self.scratch.cleanup()
