"""The application: command line, grading, progress and texts."""
