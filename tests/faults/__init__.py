"""Faults of the place, and what `lab check` says while they last: never a false verdict."""
