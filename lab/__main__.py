"""`python -m lab` and the `lab` script."""

import sys


def main() -> None:
    """Run the command line; trouble while it is still being loaded has an exit code of its own."""
    try:
        from lab.cli import main as run_main
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # exit code 1 would call it NOT YET
        sys.stderr.write(f"lab: {type(error).__name__}: {error}\n")
        sys.exit(3)
    run_main()


if __name__ == "__main__":
    main()
