"""Fixtures of the tests of MCP servers: the program, and a server that is its model."""

from tests.cli.conftest import program, server

__all__ = ["program", "server"]
