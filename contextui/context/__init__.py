"""The model of the context: items, what of them is sent, and what it costs."""
