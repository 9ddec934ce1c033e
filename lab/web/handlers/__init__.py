"""The answers of the page, by what they are about."""
