"""Rows to learn from, wherever they are: in memory, in files, on a cluster."""
