"""The context inspector: what the model sees, item by item, and what it costs."""
