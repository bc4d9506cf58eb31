"""`VisibleConsole`: rich's console for texts that come from data."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from bitcipher.terminal import show_controls


class VisibleConsole(Console):
    """Console that shows the control characters of texts as escapes. Styles, and controls of rich itself, are kept."""

    def render(self, *arguments: Any, **options: Any) -> Iterable[Segment]:
        """Yield the segments of a renderable."""
        for segment in super().render(*arguments, **options):
            is_text = not segment.control and not segment.text.isprintable()
            yield Segment(show_controls(segment.text), segment.style) if is_text else segment
