"""Gists: one-line descriptions that replace the content of files already read."""
