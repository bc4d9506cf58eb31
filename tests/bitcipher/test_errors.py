"""Messages of errors: long values in them are shortened."""

from bitcipher.errors import MAX_CHARACTERS, BitcipherError


def test_long_messages_show_their_beginning_and_end():
    message = str(BitcipherError(f"f.yaml: `a` must be 1, got {'9' * 10**6}: correct it."))
    assert message.startswith("f.yaml: `a` must be 1, got 999")
    assert message.endswith("99: correct it.")
    assert len(message) <= MAX_CHARACTERS + 3
    assert str(BitcipherError("x" * MAX_CHARACTERS)) == "x" * MAX_CHARACTERS
