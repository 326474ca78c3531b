"""Copies the pages of docs/ to the folder that the site is built from.

Pages are written for GitHub. A link to a file that is not part of the site (a source, a folder of CSV files) becomes the file's name.
"""

import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_PAGES = ("site",)
LINK = re.compile(r"(?<!!)\[([^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")


def outside_fences(text, change):
    """The text with `change` applied to what is outside of blocks of code."""
    parts, prose, fence = [], [], None
    for line in text.splitlines(keepends=True):
        match = FENCE.match(line)
        if fence is None and match:
            parts += [change("".join(prose)), line]
            prose, fence = [], match[1]
        elif fence is not None:
            parts.append(line)
            if match and match[1].startswith(fence):
                fence = None
        else:
            prose.append(line)
    return "".join(parts) + change("".join(prose))


def without_outside_links(text, page, docs):
    """The page with its links to what the site does not have made plain text; a link to nothing stays, and the build reports it."""

    def replace(match):
        words, target = match[1], match[2].partition("#")[0]
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        path = (page.parent / target).resolve()
        if path.suffix == ".md" and path.is_relative_to(docs) or not path.exists():
            return match[0]
        if path.is_relative_to(docs) and path.is_file():
            return match[0]
        name = path.relative_to(docs.parent).as_posix() + ("/" if path.is_dir() else "")
        return f"`{name}`" if name in (words.strip("`"), words.strip("`") + "/") else f"{words} (`{name}`)"

    return outside_fences(text, lambda prose: LINK.sub(replace, prose))


def stage(docs, source):
    """Makes the folder `source` anew from the folder `docs`."""
    docs, source = docs.resolve(), source.resolve()
    shutil.rmtree(source, ignore_errors=True)
    for path in sorted(docs.rglob("*")):
        relative = path.relative_to(docs)
        if path.is_dir() or relative.parts[0] in NOT_PAGES:
            continue
        target = source / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(without_outside_links(path.read_text(encoding="utf-8"), path, docs), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    for name in ("conf.py", "toc.yml"):
        shutil.copyfile(docs / "site" / name, source / name)
    shutil.copytree(docs / "site" / "static", source / "static")
