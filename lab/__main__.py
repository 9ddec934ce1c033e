"""`python -m lab` and the `lab` script."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being loaded is no traceback."""
    try:
        from lab.cli import main as run_main
    except KeyboardInterrupt:
        sys.exit(130)
    run_main()


if __name__ == "__main__":
    main()
