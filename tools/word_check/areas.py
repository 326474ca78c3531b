"""Which texts belong to which area, and which files there are."""

import fnmatch
import pathlib
import re
import subprocess

from word_check import cpp, markdown, scripts, toml
from word_check.text import Text

# What each area holds, and whether the words of the table are forbidden there; the others only count.
AREAS = {
    "help": ("strings of app/", True),
    "messages": ("strings of cachet/", True),
    "pages": ("strings of cachet/report/", True),
    "recipes": ("comments and [paper] of recipes", True),
    "documents": ("Markdown", True),
    "headers": ("comments of installed headers", True),
    "comments": ("comments of everything else", False),
}
FORBIDDEN = [area for area, (_, forbidden) in AREAS.items() if forbidden]
# The table itself, and files that repeat what others wrote. The pages of commands, recipes and headers repeat the help, the recipes and
# the comments of headers, which are checked themselves.
SKIPPED = ("docs/words.md", "docs/api.md", "docs/reference/commands.md", "docs/reference/recipes.md", "tests/data/*", "*/LICENSE", "data/*", "tests/tools/check_words_test.py")
PYTHON = re.compile(r"^#!.*python")


def is_installed(root):
    """A function that decides whether the header of a path is installed, from cmake/Install.cmake."""
    text = (root / "cmake/Install.cmake").read_text()
    rule = re.search(r"install\(DIRECTORY \S*/cachet TYPE INCLUDE (.*?)\)\n", text, re.DOTALL)
    if not rule:
        raise ValueError("cmake/Install.cmake has no line install(DIRECTORY …/cachet TYPE INCLUDE …)")
    names = re.findall(r"PATTERN (\S+) EXCLUDE", rule[1])
    paths = [re.compile(each.replace("\\\\", "\\")) for each in re.findall(r'REGEX "([^"]*)" EXCLUDE', rule[1])]

    def installed(path):
        parts = pathlib.PurePath(path).parts
        return (parts[0] == "cachet" and path.endswith(".h") and not any(fnmatch.fnmatch(part, name) for part in parts for name in names)
                and not any(each.search("/" + path) for each in paths))

    return installed


def cpp_texts(path, source, installed):
    top = pathlib.PurePath(path).parts
    strings = None
    if top[0] == "app":
        strings = "help"
    elif top[0] == "cachet":
        strings = "pages" if top[1] == "report" else "messages"
    comments = "headers" if installed(path) else "comments"
    for kind, pieces in cpp.comments_and_strings(source):
        parts = cpp.embedded(pieces) if kind == "embedded" else [(kind, pieces)]
        for each, found in parts:
            if each == "comment":
                yield Text(comments, path, found)
            elif strings and cpp.is_text("".join(piece for _, piece in found)):
                yield Text(strings, path, found)


def texts_of(path, source, installed):
    """Yields the texts of a file."""
    name = pathlib.PurePath(path)
    if name.suffix in (".cpp", ".h"):
        yield from cpp_texts(path, source, installed)
    elif name.suffix == ".md":
        yield from (Text("documents", path, pieces, markdown.HIDE) for pieces in markdown.blocks(source))
    elif name.suffix == ".toml":
        yield from (Text("recipes", path, pieces) for pieces in toml.texts(source))
    elif name.suffix == ".py" or PYTHON.match(source):
        yield from (Text("comments", path, pieces) for pieces in scripts.python(source))
    elif name.suffix in (".cmake", ".sh") or name.name in ("CMakeLists.txt", "Makefile") or source.startswith("#!"):
        yield from (Text("comments", path, pieces) for pieces in scripts.shell(source))


def files(root):
    """The files of the checkout that git tracks or would add, without those that have no texts of ours."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=root, check=True,
                            capture_output=True, text=True).stdout.split("\0")
    for path in sorted(set(listed)):
        if path and not any(fnmatch.fnmatch(path, skipped) for skipped in SKIPPED) and (root / path).is_file():
            yield path


def all_texts(root, only=()):
    installed = is_installed(root)
    for path in files(root):
        if only and not any(path == each or path.startswith(each.rstrip("/") + "/") for each in only):
            continue
        data = (root / path).read_bytes()
        if b"\0" not in data[:4096]:
            yield from texts_of(path, data.decode("utf-8", errors="replace"), installed)
