"""Tables and figures of Zhao & Williams (2023), *Bit Cipher*."""
