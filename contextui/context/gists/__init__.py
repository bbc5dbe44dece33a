"""Gists: the line that stands for a file once it was read."""
