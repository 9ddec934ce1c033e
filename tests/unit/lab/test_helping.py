"""The help on a terminal of 80 columns, in both languages."""

import pytest

from lab.cli import CommandLine
from lab.helping import HelpContext
from lab.text import Speech, width

COMMANDS = CommandLine(Speech("en")).list_commands(HelpContext(CommandLine(Speech("en"))))


def helped(language: str, *names: str) -> str:
    commands = CommandLine(Speech(language))
    context = HelpContext(commands, info_name="lab", terminal_width=78)
    for name in names:
        command = commands.get_command(context, name)
        assert command is not None
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
    return context.get_help()


@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_line_is_wider_than_the_terminal(language):
    for names in ((), *((name,) for name in COMMANDS)):
        told = helped(language, *names)
        assert max(width(line) for line in told.splitlines()) <= 78, told


def test_all_texts_stand_in_one_column():
    lines = helped("ko").splitlines()
    block = lines[lines.index(next(line for line in lines if line.startswith("  provision"))) :]
    assert len(block) > len(COMMANDS)  # some are wrapped
    assert all(line[12:14] == "  " and line[14] != " " for line in block)


def test_a_name_that_is_too_long_has_a_line_of_its_own():
    formatter = HelpContext(CommandLine(Speech("en")), terminal_width=78).make_formatter()
    formatter.write_dl([("a" * 40, "what it is"), ("b", ""), ("c", "short")])
    assert formatter.getvalue().splitlines() == [
        "a" * 40,
        " " * 32 + "what it is",
        "b",
        "c" + " " * 31 + "short",
    ]
