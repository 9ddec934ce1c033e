"""What can stand between a Job and its pods, one module for each thing that is looked at."""
