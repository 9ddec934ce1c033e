"""Judgements that several labs share: queues that must be open, the past, texts of learners."""
