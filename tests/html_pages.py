"""Parser and checks of generated HTML pages, and words that try to inject markup."""

import base64
import hashlib
import json
from html.parser import HTMLParser
from typing import Any

EVIL = (
    "</script><script>alert(1)",
    "<img src=x onerror=alert(2)>",
    "' onload='alert(3)",
    '" onload="alert(4)',
    "{{ 7 * 6 }}",
    "<!--<script>",
    "&lt;b&gt;",
    "\u2028",
    "\u202eesrever",
    "قلب",
    "👩‍💻",
)


class Parsed(HTMLParser):
    """Tags of a page, and the text of each element."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br", "input"):
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def data(self) -> list[dict[str, Any]]:
        """Return the JSON data embedded in the page."""
        scripts = zip(self.attributes("script"), self.texts["script"], strict=True)
        return [json.loads(text) for attributes, text in scripts if attributes.get("type") == "application/json"]

    def scripts(self) -> list[str]:
        """Return the inline scripts of the page."""
        scripts = zip(self.attributes("script"), self.texts.get("script", []), strict=True)
        return [text for attributes, text in scripts if not attributes]


def assert_whole(page: Parsed) -> None:
    """Assert that the page loads nothing, and that its Content-Security-Policy allows exactly its own scripts."""
    assert not [each for _, each in page.tags if each.keys() & {"src", "srcset", "action", "style"}]
    assert not [each["href"] for _, each in page.tags if "href" in each]
    assert not [name for _, each in page.tags for name in each if name.startswith("on")]
    (policy,) = [each["content"] for each in page.attributes("meta") if each.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    assert "http" not in policy
    assert "unsafe" not in policy
    digests = {digest_of(text) for text in (*page.scripts(), *page.texts["style"])}
    assert {part.rstrip(";") for part in policy.split() if part.startswith("'sha256")} == digests


def digest_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
