"""`python -m lab` and the `lab` script."""

from lab.cli import main

if __name__ == "__main__":
    main()
