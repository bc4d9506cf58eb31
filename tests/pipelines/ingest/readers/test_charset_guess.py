"""Guesses of charsets: Windows-1252 for few accents, and another charset for text in a language that uses it."""

import pytest

from pipelines.ingest.readers.charset_guess import guess_charset, strip_markup
from pipelines.ingest.readers.text_encoding import choose_encoding

SENTENCE = "The old museum in the harbor town opened its doors again last spring, and {} was there. "
CZECH = "Dva mladí bílí muži jsou venku poblíž mnoha keřů a dívají se na řeku, která teče příliš rychle."
GREEK = "Ο άνθρωπος περπατούσε στον μακρύ δρόμο και σκεφτόταν ότι σύντομα θα έρθει ο χειμώνας."
RUSSIAN = "Человек шёл по длинной дороге и думал о том, что скоро наступит зима и выпадет первый снег."
UKRAINIAN = "Її їжа була гарячою, і ґанок біля хати ще пахнув димом, коли він повернувся."


@pytest.mark.parametrize(
    "word", ["El Niño", "piñata", "mañana", "café", "crème brûlée", "Zürich", "Ångström", "£20", "5°", "“so”", "Gödel"]
)
@pytest.mark.parametrize("times", [1, 3, 40])
def test_few_accents_are_windows_1252(word, times):
    assert guess_charset((SENTENCE.format(word) * times).encode("cp1252")) == "cp1252"


@pytest.mark.parametrize(
    ("text", "charset"),
    [(CZECH, "cp1250"), (CZECH, "iso8859-2"), (GREEK, "cp1253"), (RUSSIAN, "cp1251"), (UKRAINIAN, "koi8-u")],
)
def test_text_of_another_language_is_in_its_charset(text, charset):
    content = text.encode(charset)
    assert content.decode(guess_charset(content)) == text
    assert choose_encoding(content).reason == "guessed"


def test_markup_is_no_evidence():
    page = f"<html><head><script>var x = '<p>';</script></head><body class='a'><p>{RUSSIAN}</p></body></html>"
    assert strip_markup(page.encode("cp1251")).split() == RUSSIAN.encode("cp1251").split()
    assert strip_markup(b"<" * 200_000 + b"<script") is not None  # in linear time
    code = b"<script>" + b"var name = 'a word of code'; " * 200 + b"</script>"
    content = code + page.encode("cp1251")
    assert choose_encoding(content, ["iso-8859-1"], is_markup=True) == ("cp1251", "cp1252 was declared")


@pytest.mark.parametrize(
    ("declared", "text", "codec"),
    [
        ("iso-8859-1", "It’s here, and we’re late.", "utf-8"),
        ("windows-1251", "“It’s here”, they said.", "utf-8"),
        ("iso-8859-1", "“One” end", "utf-8"),  # the last byte of ” is not in Windows-1252
        ("gbk", "“One”, ‘two’, “three”", "utf-8"),
        ("iso-8859-1", "caf\u00e9", "cp1252"),
    ],
)
def test_bytes_that_prove_utf8_beat_a_declaration(declared, text, codec):
    assert choose_encoding(text.encode(), [declared]).codec == codec


@pytest.mark.parametrize(
    ("text", "declared", "codec"),
    [
        ("联通", "gbk", "gb18030"),  # valid UTF-8, by chance
        ("NESCAFÉ® " * 20, "iso-8859-1", "cp1252"),  # É® is valid UTF-8
        ("naïve Straße", "iso-8859-15", "iso8859-15"),
        (CZECH, "windows-1250", "cp1250"),
        ("①～", "shift_jis", "cp932"),
    ],
)
def test_declarations_that_are_right_are_used(text, declared, codec):
    choice = choose_encoding(text.encode(codec), [declared])
    assert choice == (codec, "")
    assert text.encode(codec).decode(choice.codec) == text


def test_detector_does_not_overrule_latin_1_for_another_latin_charset():
    content = CZECH.encode("cp1250")
    assert choose_encoding(content, ["iso-8859-1"]) == ("cp1252", "")
    # Another declaration of the page is the first to be tried.
    assert choose_encoding(RUSSIAN.encode("koi8-r"), ["iso-8859-1", "koi8-r"]).codec == "koi8-r"


def test_page_that_declares_utf16_in_ascii_is_not_in_it():
    page = b"<meta charset=utf-16><p>plain words</p>"
    assert choose_encoding(page, ["utf-16"]).codec == "utf-8"
    assert choose_encoding("<p>plain words</p>".encode("utf-16-le"), ["utf-16"]).codec == "utf-16-le"
