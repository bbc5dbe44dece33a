"""Strategies: pluggable policies that select which messages the model receives."""
