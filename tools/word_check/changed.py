"""Lines that are new since a file was last committed, so that a count that rose shows what raised it."""

import collections
import re
import subprocess

HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def git(root, *words):
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, errors="replace")
    return done.stdout if done.returncode == 0 else None


def new_lines(root, since_file):
    """{path: set of line numbers} that differ from the last commit that changed `since_file`; None without one."""
    commit = git(root, "log", "-1", "--format=%H", "--", since_file)
    difference = git(root, "diff", "-U0", "--no-ext-diff", "--no-renames", commit.strip()) if commit and commit.strip() else None
    if difference is None:
        return None
    lines = collections.defaultdict(set)
    path = None
    for line in difference.splitlines():
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else None
        elif path and (match := HUNK.match(line)):
            first, count = int(match[1]), int(match[2] or 1)
            lines[path].update(range(first, first + count))
    return lines
