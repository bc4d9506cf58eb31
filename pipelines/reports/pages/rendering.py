"""Rendering of HTML pages that load no other files."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2


def render_page(
    template: Path, scripts: Sequence[Path], styles: Sequence[Path], folders: Sequence[Path] = (), **values: Any
) -> bytes:
    """Return an HTML page with inline scripts and styles.

    The Content-Security-Policy of the page lists the SHA-256 digest of each script and style. A browser runs only the
    listed scripts, and loads no other files.

    Args:
        template: path of the jinja2 template, which extends `base.html`. Autoescaping is on.
        scripts: paths of the page's scripts.
        styles: paths of the page's styles, added after `base.css`.
        folders: folders of templates that the template imports.
        values: other variables of the template.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, Path(__file__).parent, *folders]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    codes = [path.read_text("utf-8") for path in scripts]
    sheets = [path.read_text("utf-8") for path in [Path(__file__).parent / "base.css", *styles]]
    script_digests = _digests(codes) or "'none'"
    policy = f"default-src 'none'; img-src data:; script-src {script_digests}; style-src {_digests(sheets)}"
    page = environment.get_template(template.name).render(scripts=codes, styles=sheets, policy=policy, **values)
    return page.encode(errors="replace")


def _digests(texts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
