"""The links of a built site: each link to the site must lead to a file and, after a #, to an element with this name."""

import html.parser
import pathlib
import urllib.parse

ATTRIBUTES = {"a": "href", "img": "src", "link": "href", "script": "src", "source": "src", "iframe": "src"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        for name in ("id", "name"):
            if values.get(name):
                self.names.add(values[name])
        target = values.get(ATTRIBUTES.get(tag, ""))
        if target:
            (self.links if tag == "a" else self.loads).append(target)


def check(site):
    """What is wrong, a line each, and the links to other machines: URL -> pages."""
    site = pathlib.Path(site).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    faults, external = [], {}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for target in page.links + page.loads:
            url = urllib.parse.urlsplit(target)
            if url.scheme in ("http", "https") or url.netloc:
                if target in page.loads:
                    faults.append(f"{name}: loads {target} from another machine")
                external.setdefault(target, []).append(name)
                continue
            if url.scheme:
                continue  # mailto:, data:
            file = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if file.is_dir():
                file /= "index.html"
            if not file.is_file():
                faults.append(f"{name}: links to {target}, which is not a file of the site")
            elif url.fragment and file in pages and urllib.parse.unquote(url.fragment) not in pages[file].names:
                faults.append(f"{name}: links to {target}, but {file.name} has no element #{url.fragment}")
    return list(dict.fromkeys(faults)), external
