"""Settings of `k3s server`: config.yaml, then flags. A key may have several values.

As with k3s, keys that nothing here looks at (`disable` and others) are accepted.
"""

import re
from pathlib import Path

Options = dict[str, list[str]]


def read_options(path: Path, flags: list[str]) -> Options:
    """All of them; config.yaml may hold scalars and lists of scalars, written as YAML or inline."""
    options = parse(path.read_text()) if path.exists() else {}
    words = iter(flags)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        options.setdefault(name, []).append(value if equals else next(words, "true"))
    return options


def parse(text: str) -> Options:
    """The keys and values of a config.yaml."""
    options: Options = {}
    key = ""
    for raw in text.splitlines():
        line = re.sub(r"(^|\s)#.*", "", raw).rstrip()
        if found := re.match(r"([a-z0-9-]+):\s*(.*)$", line):
            key, value = found.groups()
            options[key] = values(value)
        elif (found := re.match(r"\s*-\s+(.+)$", line)) and key:
            options[key].append(plain(found.group(1)))
        elif line and line != "---":
            raise SystemExit(f"k3s (stand-in): cannot read {raw!r}")
    return options


def values(text: str) -> list[str]:
    if text.startswith("["):
        return [plain(part) for part in text.strip("[]").split(",") if part.strip()]
    return [plain(text)] if text else []


def plain(text: str) -> str:
    return text.strip().strip("\"'")


def last(options: Options, name: str, default: str) -> str:
    """The value that counts where there may be one only."""
    return (options.get(name) or [default])[-1]
