"""`lab doctor`: whether this machine, the place and the grader are as they should be."""
