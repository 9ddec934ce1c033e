"""`python -m lab.web --home=FOLDER --port=PORT`: the server of one place's page."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from lab.web.hiding import keep_to_ourselves
from lab.web.launch import read_launch
from provision.errors import LabError
from provision.message import say


def main() -> None:
    """Serve until it is told to stop."""
    parser = argparse.ArgumentParser(prog="lab.web")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    chosen = parser.parse_args()
    try:
        launch = read_launch(chosen.home)
        if launch is None:
            raise LabError(
                say("The page was never opened."), next_move=say("Open it with make open.")
            )
    except LabError as error:
        sys.stderr.write(f"{error.what} {error.next_move or ''}\n")
        sys.exit(error.exit_code)
    keep_to_ourselves()
    os.environ.clear()
    os.environ.update(launch.environment)
    from lab.web.serving import serve

    serve(launch, home=chosen.home, port=chosen.port)


if __name__ == "__main__":
    main()
