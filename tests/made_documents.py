"""Documents of made-up web text near the thresholds of cleaning rules. Uses only the standard library."""

import random
from collections.abc import Callable, Iterator

WORDS = (
    "time year people way day man thing woman life child world school state family student group country"
    " problem hand part place case week company system program question work government number night point home"
    " water room mother area money story fact month lot right study book eye job word business issue side kind"
    " head house service friend father"
).split()
STOP_WORDS = "the be to of and that have with a in is it".split()
ODD_TOKENS = (
    "don't I'm o'clock e.g. U.S. Ph.D. 3.14 10% $20 #tag #1 @home a/b well-known … ... -- & * (see) [1] [12] [edit] :-)"
    " : ) http://example.com/a?b=c mail@example.com naïve “quoted” ‘single’ 中文 سلام, w/ o 4pm 1,000 w/o -5 '"
    " 's I . J ."
).split(" ")
LINES = (
    "JavaScript is disabled in this browser today.",
    "We use cookies to improve this site.",
    "Read our privacy policy here.",
    "Copyright 2020 Example",
    "Read more ...",
    "Home",
    "- an item of a list",
    "• another item",
    "هذه جملة قصيرة باللغة العربية؟",
    "A line\twith a tab.  And two spaces. \u00a0 Here too!",
    "What? Really?! (Yes.) \"No.\" 'Maybe.' He said: ... nothing.",
    "...",
    "",
    "   ",
)


def make_documents(number: int, seed: int = 0) -> Iterator[str]:
    """Yield documents. The same numbers and seeds give the same documents."""
    draw = random.Random(seed)
    for _ in range(number):
        text = _make_document(draw)
        for change in draw.sample(CHANGES, draw.choice((0, 1, 1, 2))):
            text = change(draw, text)
        yield text


def _make_document(draw: random.Random) -> str:
    paragraphs = draw.choice((1, 2, 4, 8))
    stop_words = draw.choice((0.0, 0.05, 0.3, 0.3))
    return "\n\n".join(
        "\n".join(_sentences(draw, stop_words) for _ in range(draw.choice((1, 1, 3)))) for _ in range(paragraphs)
    )


def _sentences(draw: random.Random, stop_words: float) -> str:
    return " ".join(_sentence(draw, stop_words) for _ in range(draw.choice((1, 2, 5))))


def _sentence(draw: random.Random, stop_words: float) -> str:
    words = [draw.choice(STOP_WORDS if draw.random() < stop_words else WORDS) for _ in range(draw.randint(2, 15))]
    return " ".join(words).capitalize() + draw.choice((".", ".", ".", "!", "?", "", "..."))


def _insert_lines(draw: random.Random, text: str) -> str:
    lines = text.split("\n")
    for _ in range(draw.randint(1, 2 * len(lines))):
        lines.insert(draw.randint(0, len(lines)), draw.choice(LINES))
    return "\n".join(lines)


def _insert_tokens(draw: random.Random, text: str) -> str:
    words = text.split(" ")
    for _ in range(draw.randint(1, max(1, len(words) // 3))):
        words.insert(draw.randint(0, len(words)), draw.choice(ODD_TOKENS))
    return " ".join(words)


def _insert_one_token(draw: random.Random, text: str) -> str:
    words = text.split(" ")
    token = draw.choice(ODD_TOKENS)
    for _ in range(draw.randint(1, max(1, len(words) // 4))):
        words.insert(draw.randint(0, len(words)), token)
    return " ".join(words)


def _repeat_lines(draw: random.Random, text: str) -> str:
    separator = draw.choice(("\n", "\n\n"))
    parts = text.split(separator)
    parts += draw.choices(parts, k=draw.randint(1, len(parts)))
    draw.shuffle(parts)
    return separator.join(parts)


def _repeat_phrase(draw: random.Random, text: str) -> str:
    words = text.split(" ")
    phrase = " ".join(draw.choices(WORDS, k=draw.randint(2, 12)))
    for _ in range(draw.randint(1, max(1, len(words) // 6))):
        words.insert(draw.randint(0, len(words)), phrase)
    return " ".join(words)


def _break_lines(draw: random.Random, text: str) -> str:
    width = draw.randint(1, 12)
    words = text.split(" ")
    return "\n".join(" ".join(words[start : start + width]) for start in range(0, len(words), width))


def _begin_lines(draw: random.Random, text: str) -> str:
    share, mark = draw.uniform(0.7, 1), draw.choice(("- ", "• ", " * "))
    return "\n".join(mark + line if draw.random() < share else line for line in text.split("\n"))


def _end_lines(draw: random.Random, text: str) -> str:
    share, mark = draw.uniform(0, 0.6), draw.choice(("...", "…", " Read more", "\t", "؟", "。"))
    return "\n".join(line + mark if draw.random() < share else line for line in text.split("\n"))


def _change_line_breaks(draw: random.Random, text: str) -> str:
    return text.replace("\n", draw.choice(("\r\n", "\u2028", "\n\n\n", " \n ")))


def _add_page_mark(draw: random.Random, text: str) -> str:
    mark = draw.choice(
        ("function() { return 1; }", "Lorem ipsum dolor sit amet.", "{short}", "It has { a bracket.", "")
    )
    return draw.choice((f"{mark}\n{text}", f"{text}\n{mark}", mark))


def _change_words(draw: random.Random, text: str) -> str:
    return draw.choice(
        (
            text.upper(),
            "".join(draw.sample(text, len(text))),
            text.replace("e", ""),
            " ".join("".join(pair) for pair in zip(text.split()[::2], text.split()[1::2], strict=False)),
            " ".join(word[:2] for word in text.split(" ")),
        )
    )


CHANGES: list[Callable[[random.Random, str], str]] = [
    _insert_lines,
    _insert_lines,
    _insert_tokens,
    _insert_one_token,
    _repeat_lines,
    _repeat_phrase,
    _repeat_phrase,
    _break_lines,
    _begin_lines,
    _end_lines,
    _end_lines,
    _change_line_breaks,
    _add_page_mark,
    _change_words,
]
