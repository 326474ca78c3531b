"""Running the command that was built: what the tests beside this file share."""
import json
import pathlib
import resource
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = None  # set by main()


def run(*words, cwd=None, timeout=300, address_space=None, stdin=""):
    """Runs `cachet WORDS...` with this on standard input, with so many bytes of addresses if asked; returns the finished process with its text."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    return subprocess.run([COMMAND, *words], cwd=cwd, timeout=timeout, capture_output=True, text=True, input=stdin,
                          preexec_fn=limit if address_space else None)


class CommandTest(unittest.TestCase):
    def succeed(self, *words, **options):
        done = run(*words, **options)
        self.assertEqual(done.returncode, 0, f"cachet {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done

    def json_of(self, *words, **options):
        """The one object that a command prints; anything else on standard output does not parse."""
        return json.loads(self.succeed(*words, **options).stdout)

    def refused(self, *words, code=2, lines=2, **options):
        """What a failing command says: short, without a stack, nothing on standard output."""
        done = run(*words, **options)
        self.assertEqual(done.returncode, code, f"cachet {' '.join(words)}\n{done.stdout}{done.stderr}")
        self.assertEqual(done.stdout, "")
        self.assertNotEqual(done.stderr.strip(), "")
        self.assertLessEqual(len(done.stderr.strip().splitlines()), lines, done.stderr)
        for trace in ("frame #", "libtorch", "terminate called", "Exception raised from"):
            self.assertNotIn(trace, done.stderr)
        return done.stderr


def main():
    global COMMAND
    COMMAND = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
