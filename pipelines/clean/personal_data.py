"""Rule that replaces mail addresses, IP addresses and phone numbers."""

import ipaddress
import re
from typing import Annotated, Literal

from pydantic import Field

from bitcipher.files.records import FROM_LIST
from pipelines.clean.base import CleaningRule
from pipelines.clean.document import Document

Kind = Literal["mail", "ip", "phone"]

# All repetitions are bounded and no part of a match can be split in two ways, so the time is linear in the text. 64 and
# 63 are the maximum lengths of a local part and of a label (RFC 5321, section 4.5.3.1; RFC 1035, section 2.3.4).
_MAIL = re.compile(
    r"(?<![\w.!#$%&'*+/=?^`{|}~-])[A-Za-z0-9][\w.!#$%&'*+/=?^`{|}~-]{0,63}"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![\w-])",
    re.ASCII,
)
_IPV4 = re.compile(r"(?<![\w.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w]|\.[0-9])")
# International numbers begin with +, and have at most 15 digits (ITU-T E.164). Other numbers need the groups of the
# North American plan, because other groups of digits are often dates, prices or part numbers.
_PHONE = re.compile(
    r"(?<![\w+.,/-])(?:"
    r"\+[1-9](?:[ .()-]{0,2}[0-9]){6,14}"
    r"|(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[2-9][0-9]{2}[ .-][0-9]{4}"
    r")(?!\w|[.,/-][0-9])",
    re.ASCII,
)


class PersonalDataRule(CleaningRule):
    """Replaces mail addresses, public IPv4 addresses and phone numbers by fixed examples.

    The replacements are reserved for documentation (RFC 2606, RFC 5737, and 555-0100 in the North American Numbering
    Plan), so a model that learns them learns nothing about a person.
    """

    rule: Literal["personal_data"] = "personal_data"
    """Replace mail addresses, public IP addresses and phone numbers."""
    kinds: Annotated[tuple[Kind, ...], FROM_LIST, Field(min_length=1)] = ("mail", "ip", "phone")
    """Kinds of data to replace."""

    def apply(self, document: Document) -> Document:
        """Return the document with its personal data replaced."""
        text = document.text
        if "mail" in self.kinds and "@" in text:
            text = _MAIL.sub("email@example.com", text)
        if "ip" in self.kinds:
            text = _IPV4.sub(_replace_public, text)
        if "phone" in self.kinds:
            text = _PHONE.sub("+1 202-555-0100", text)
        return document if text == document.text else document.with_text(text)


def _replace_public(match: re.Match[str]) -> str:
    try:
        return "192.0.2.1" if ipaddress.IPv4Address(match[0]).is_global else match[0]
    except ValueError:  # a number above 255, or with a leading zero
        return match[0]
