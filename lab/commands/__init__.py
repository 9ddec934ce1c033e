"""The commands, by who uses them; `lab/cli.py` puts them together."""
