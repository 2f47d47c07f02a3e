"""From data sets to files."""
