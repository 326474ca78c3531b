"""The reference of C++: what Doxygen reads out of the public headers, a page for each folder of them.

Public are the headers that an umbrella header (cachet/*.h) or a program of examples/ names, and those that they include. A comment after a declaration
on the same line, // with two slashes, belongs to the declaration.
"""

import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

INCLUDE = re.compile(r'^#include [<"](cachet/[^">]+)[">]', re.MULTILINE)
SETTINGS = """
QUIET = YES
WARNINGS = NO
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
SORT_MEMBER_DOCS = NO
SORT_BRIEF_DOCS = NO
MARKDOWN_SUPPORT = YES
AUTOLINK_SUPPORT = NO
FILTER_PATTERNS = *.h="sed -E 's@([;,{{]) +// @\\1 ///< @'"
FULL_PATH_NAMES = YES
STRIP_FROM_PATH = {root}
INPUT = {headers}
OUTPUT_DIRECTORY = {output}
"""


def includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def public_headers(root):
    """Paths below the root, by folder and name."""
    first = []
    for program in [*sorted((root / "cachet").glob("*.h")), *sorted((root / "examples").rglob("*.cpp"))]:
        first += includes(program)
    headers = {name for name in first if name.count("/") > 1}  # not the umbrella headers themselves
    for name in list(headers):
        headers.update(includes(root / name))
    return sorted(headers, key=lambda name: name.rpartition("/")[::2])


def run_doxygen(root, headers, output):
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    settings = SETTINGS.format(root=root, headers=" ".join(str(root / name) for name in headers), output=output)
    done = subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=root, check=False)
    if done.returncode:
        raise SystemExit("docs: doxygen failed; its message is above")
    return output / "xml"


def plain(element):
    """The text of a declaration."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def prose(element):
    """A comment as Markdown."""
    text = element.text or ""
    for child in element:
        inside = prose(child)
        if child.tag in ("computeroutput", "verbatim"):
            inside = f"`{inside}`" if inside.strip() else ""
        elif child.tag == "para":
            inside += "\n\n"
        elif child.tag == "listitem":
            inside = "- " + " ".join(inside.split()) + "\n"
        elif child.tag in ("itemizedlist", "orderedlist"):
            inside = "\n\n" + inside + "\n"
        elif child.tag == "linebreak":
            inside = "\n"
        elif child.tag == "programlisting":
            inside = "\n\n```cpp\n" + "\n".join("".join(line.itertext()) for line in child) + "\n```\n\n"
        elif child.tag in ("sp", "nonbreakablespace"):
            inside = " "
        text += inside + (child.tail or "")
    return text


def comment(member):
    """The comment of a declaration, in paragraphs."""
    parts = [prose(part) for name in ("briefdescription", "detaileddescription") if (part := member.find(name)) is not None]
    paragraphs = [" ".join(each.split()) if "```" not in each and "\n- " not in each else each.strip()
                  for part in parts for each in re.split(r"\n\n+", part)]
    # What looks like a tag or a link of Markdown is neither in a comment.
    return [re.sub(r"<(?=[A-Za-z/])", "&lt;", each) for each in paragraphs if each.strip()]


def declaration(member):
    """A member as it is written in its class."""
    kind = member.get("kind")
    if kind == "function":
        before = "static " if member.get("static") == "yes" else ""
        before += "virtual " if member.get("virt") == "virtual" else ""
        before += "explicit " if member.get("explicit") == "yes" else ""
        text = f"{before}{plain(member.find('type'))} {plain(member.find('name'))}{plain(member.find('argsstring'))}"
    elif kind == "enum":
        values = ", ".join(plain(value.find("name")) for value in member.iter("enumvalue"))
        text = f"enum class {plain(member.find('name'))} {{ {values} }}"
    elif kind == "typedef":
        text = plain(member.find("definition"))
        name = plain(member.find("name"))
        text = f"using {name} = {plain(member.find('type'))}" if text.startswith("using") else text
    else:
        initial = plain(member.find("initializer"))
        static = "static " if member.get("static") == "yes" else ""
        text = f"{static}{plain(member.find('type'))} {plain(member.find('name'))}{plain(member.find('argsstring'))} {initial}"
    parameters = member.find("templateparamlist")
    if parameters is not None:
        names = (" ".join(filter(None, (plain(each.find("type")), plain(each.find("declname"))))) for each in parameters)
        text = f"template <{', '.join(names)}>\n{text}"
    text = re.sub(r"(\w)=(?==?[^=])", r"\1 = ", text) if kind == "function" else text
    text = re.sub(r"< ", "<", re.sub(r" >", ">", text)).replace(" &", "& ").replace(" *", "* ")
    return re.sub(r" +", " ", re.sub(r"([&*]) (?=[),>])", r"\1", text)).replace("&& ", "&& ").strip()


def members_of(compound):
    """The public members of a class or of a namespace."""
    return [each for each in compound.iter("memberdef")
            if each.get("prot") == "public" and each.get("kind") in ("function", "enum", "typedef", "variable")]


def in_order(elements):
    """Elements of one header in the order of the source."""
    return sorted(elements, key=lambda each: int(each.find("location").get("line", 0)))


def cpp_block(lines):
    return ["```cpp", *lines, "```", ""]


WIDTH = 76  # of a block of code at 1,400 pixels


def folded(text):
    """A declaration in lines that a page has room for: each parameter or base on a line of its own if it is long."""
    head, _, rest = text.rpartition("\n")
    if len(rest) > WIDTH and rest.startswith(("class ", "struct ")):
        rest = rest.replace(" : public ", "\n    : public ").replace(", public ", ",\n      public ")
    elif len(rest) > WIDTH and "(" in rest:
        begin, depth, parts, part = rest.index("(") + 1, 0, [], ""
        for position, sign in enumerate(rest[begin:], begin):
            depth += (sign in "(<{[") - (sign in ")>}]")
            if depth < 0:
                break
            if sign == "," and depth == 0:
                parts, part = [*parts, part.strip() + ","], ""
            else:
                part += sign
        rest = "\n    ".join([rest[:begin], *parts, part.strip()]) + rest[position:]
    return f"{head}\n{rest}" if head else rest


def members_lines(members):
    """Members and their comments. Members without a comment share a block with those after them."""
    lines, block = [], []
    for member in members:
        name, said = plain(member.find("name")), comment(member)
        if name.startswith("@") or name.startswith("operator") and not said:
            continue
        block += folded(declaration(member) + ";").splitlines()
        values = [f"- `{plain(value.find('name'))}`: {text}" for value in member.iter("enumvalue") if (text := " ".join(comment(value)))]
        if said or values:
            lines += cpp_block(block)
            for paragraph in said:
                lines += [paragraph, ""]
            lines += values + [""] * bool(values)
            block = []
    return lines + (cpp_block(block) if block else [])


def class_lines(compound):
    name = plain(compound.find("compoundname"))
    bases = [f"public {plain(base)}" for base in compound.findall("basecompoundref") if base.get("prot") == "public"]
    head = f"{compound.get('kind')} {name.rpartition('::')[2]}" + (f" : {', '.join(bases)}" if bases else "")
    head = head.replace("< ", "<").replace(" >", ">")
    lines = [f"### {name.removeprefix('cachet::')}", "", *cpp_block(folded(head + ";").splitlines())]
    for paragraph in comment(compound):
        lines += [paragraph, ""]
    return lines + members_lines(in_order(members_of(compound)))


class Headers:
    """The content of Doxygen's files, by header: classes, and members of namespaces."""

    def __init__(self, folder):
        self.classes, self.members = {}, {}
        for path in sorted(folder.glob("*.xml")):
            for compound in ElementTree.parse(path).getroot().iter("compounddef"):
                if compound.get("kind") == "namespace":
                    for member in members_of(compound):
                        self.members.setdefault(member.find("location").get("file"), []).append(member)
                elif compound.get("kind") in ("class", "struct") and compound.get("prot", "public") == "public":
                    self.classes.setdefault(compound.find("location").get("file"), []).append(compound)

    def lines(self, header):
        name = header.rpartition("/")[2]
        lines = [f"## {name}", "", f"`#include \"{header}\"`", ""]
        for compound in in_order(self.classes.get(header, ())):
            if "@" not in plain(compound.find("compoundname")):
                lines += class_lines(compound)
        members = members_lines(in_order(self.members.get(header, ())))
        if members and header in self.classes:
            lines += [f"### Functions of {name}", ""]
        return lines + members


def page_name(folder):
    return folder.removeprefix("cachet/").replace("/", "-")


INDEX = """# C++ classes and functions

This reference lists the public classes and functions of the library by folder. `#include <cachet/cachet.h>` brings all of them that
do not need a task or a run. [Architecture](../../architecture.md) explains what belongs where. Shapes are in the comments: B samples,
N or L tokens, D or C channels, H heads.
"""


def write(root, folder, scratch):
    """Writes the pages into `folder`."""
    headers = public_headers(root)
    found = Headers(run_doxygen(root, headers, scratch))
    folder.mkdir(parents=True, exist_ok=True)
    folders = {}
    for header in headers:
        folders.setdefault(header.rpartition("/")[0], []).append(header)
    index = [INDEX, "| page | headers |", "|---|---|"]
    for name, members in folders.items():
        lines = [f"# {name}", "", f"The headers of `{name}`.", ""]
        for header in members:
            lines += found.lines(header)
        (folder / f"{page_name(name)}.md").write_text("\n".join(lines), encoding="utf-8")
        names = ", ".join(f"`{header.rpartition('/')[2]}`" for header in members)
        index.append(f"| [{name}]({page_name(name)}.md) | {names} |")
    (folder / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")


def leave_out(source):
    """A page in place of the reference that was left out, so that links to the reference have a target."""
    (source / "reference/cpp").mkdir(parents=True, exist_ok=True)
    (source / "reference/cpp/index.md").write_text("# C++ classes and functions\n\nThis build has no reference of C++.\n", encoding="utf-8")
    toc = (source / "toc.yml").read_text(encoding="utf-8")
    toc = re.sub(r"(reference/cpp/index)\n +entries:\n +- glob: reference/cpp/\*", r"\1", toc)
    (source / "toc.yml").write_text(toc, encoding="utf-8")
