"""Output of the commands on the terminal."""
