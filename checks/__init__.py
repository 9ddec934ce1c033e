"""What is right in a learner's work, and how it is judged."""
