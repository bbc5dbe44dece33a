"""Built-in windows, written with the same API as any other window."""
