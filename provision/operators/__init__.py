"""Stand-ins for controllers of a platform that are not public, each a process of its own."""
