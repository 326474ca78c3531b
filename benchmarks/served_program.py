"""A program that works on what each line asks for, in a process of its own, so that two of them can take turns."""
import subprocess
import sys


class ServedProgram:
    """Its first line reports that it is ready, and may have more words, which `ready` has."""

    def __init__(self, words):
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        said = self._process.stdout.readline().split()
        if said[:1] != ["ready"]:
            self.close()
            sys.exit(f"{words[0]} did not start" + (f": {' '.join(said)}" if said else ""))
        self.ready = said[1:]

    def ask(self, line):
        """The line that it answers."""
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
