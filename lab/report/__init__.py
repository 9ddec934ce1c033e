"""Reports about a whole lab: one set of data, shown as text, JSON, JUnit or one HTML page."""
