"""Do all links inside the built site lead somewhere? Run by `make docs`: check_links.py docs/_build/html."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called for every tag."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        for name in ("href", "src"):
            if name in given and tag in ("a", "link", "img", "script", "iframe"):
                self.links.append(given[name])


def broken_links(root: Path) -> list[str]:
    """A sentence for each link that leads nowhere."""
    pages = {path.resolve(): Page(path) for path in root.rglob("*.html") if "_static" not in path.parts}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.exists():
                broken.append(f"{path.relative_to(root)} links to {link}, which is not there")
            elif place and target in pages and place not in pages[target].places:
                broken.append(f"{path.relative_to(root)} links to {link}, but there is no such place on that page")
    return sorted(broken)


if __name__ == "__main__":
    found = broken_links(Path(sys.argv[1]).resolve())
    print(*found, sep="\n")
    raise SystemExit(f"{len(found)} links lead nowhere" if found else 0)
