"""Strategies: what of a conversation goes to the model, chosen by whoever runs it."""
