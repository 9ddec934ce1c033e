"""The vm target: the lab in a Linux machine of its own, reached over SSH."""
