"""Running the command that was built: which the tests of this folder use."""
import atexit
import fcntl
import json
import os
import pathlib
import pty
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import unittest

from forked_commands import ForkedCommands

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = None  # set by main()
# The program forked_commands, if it is built and the test's commands are to run in copies of one process: tests/app/CMakeLists.txt
# names such tests.
FORKED = shutil.which(os.environ.get("CACHET_FORKED_COMMANDS", ""))
forked = threading.local()  # each thread has a process of its own, which its first command begins


def run_forked(words, cwd, timeout, stdin):
    if not hasattr(forked, "commands"):
        forked.commands = ForkedCommands(FORKED)
        atexit.register(forked.commands.close)
    return forked.commands.run(*words, cwd=cwd or os.getcwd(), timeout=timeout, stdin=stdin)


def run(*words, cwd=None, timeout=300, address_space=None, stdin="", variables=None):
    """Runs `cachet WORDS...` with this on standard input; with so many bytes of addresses and with more variables of the environment, if
    asked. Returns the finished process with its text."""
    starts_itself = "--processes" in words or words[:1] in (("bench",), ("env",))  # or prints where its program is
    if FORKED and not (address_space or variables or starts_itself):
        return run_forked(words, cwd, timeout, stdin)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    return subprocess.run([COMMAND, *words], cwd=cwd, timeout=timeout, capture_output=True, text=True, input=stdin,
                          env={**os.environ, **variables} if variables else None, preexec_fn=limit if address_space else None)


def without_locale(**more):
    """This environment without the variables for the width and the signs of a terminal, and with these variables."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("LC_") and name not in ("LANG", "COLUMNS", "TERM")}
    return {**kept, "TERM": "xterm", **more}


def on_terminal(*words, columns=80, cwd=None, timeout=300, **variables):
    """Runs `cachet WORDS...` on a terminal of that width with these variables; returns its exit code and what it wrote."""
    try:
        ours, its = pty.openpty()
    except OSError:
        raise unittest.SkipTest("this machine gives no terminals")
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    process = subprocess.Popen([COMMAND, *words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=its, stderr=its,
                               env=without_locale(**variables))
    os.close(its)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # how Linux reports that the other end is gone
        pass
    os.close(ours)
    return process.wait(timeout), b"".join(parts).decode().replace("\r\n", "\n")


class CommandTest(unittest.TestCase):
    def succeed(self, *words, **options):
        done = run(*words, **options)
        self.assertEqual(done.returncode, 0, f"cachet {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done

    def json_of(self, *words, **options):
        """The one object that a command prints; anything else on standard output does not parse."""
        return json.loads(self.succeed(*words, **options).stdout)

    def refused(self, *words, code=2, lines=2, **options):
        """The message of a failing command: short, without a stack, nothing on standard output."""
        done = run(*words, **options)
        self.assertEqual(done.returncode, code, f"cachet {' '.join(words)}\n{done.stdout}{done.stderr}")
        self.assertEqual(done.stdout, "")
        self.assertNotEqual(done.stderr.strip(), "")
        self.assertLessEqual(len(done.stderr.strip().splitlines()), lines, done.stderr)
        for trace in ("frame #", "libtorch", "terminate called", "Exception raised from"):
            self.assertNotIn(trace, done.stderr)
        return done.stderr


class FolderTest(CommandTest):
    """With a folder of its own for each test, in which the command runs."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def cachet(self, *words, **options):
        return self.succeed(*words, cwd=self.folder, **options)

    def assert_evaluation_goes_on(self, run):
        """Holds `eval -o` to what it promises: the numbers of `eval`, and, cut anywhere, the same bytes. Returns the records."""
        printed = self.cachet("eval", run).stdout
        kept = self.folder / "kept/predictions.jsonl"
        said = self.json_of("eval", run, "-o", "kept", "--json", cwd=self.folder)
        self.assertEqual(said["metrics"], self.json_of("eval", run, "--json", cwd=self.folder)["metrics"])
        self.assertEqual(said["files"], ["kept/predictions.jsonl"])
        whole = kept.read_bytes()
        lines = whole.splitlines(keepends=True)
        for held in (len(lines) // 3, len(lines) - 1, len(lines)):
            kept.write_bytes(b"".join(lines[:held]) + b"".join(lines[held:])[:9])
            done = self.cachet("eval", run, "-o", "kept")
            self.assertIn(f"holds {held} of {len(lines)} prediction", done.stderr)
            self.assertEqual(kept.read_bytes(), whole, held)
            self.assertEqual(done.stdout, printed + "kept/predictions.jsonl\n")
        return [json.loads(line) for line in lines]


def main():
    global COMMAND
    COMMAND = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
