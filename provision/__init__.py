"""Where a lab runs: targets that can be brought up, looked at and taken down."""
