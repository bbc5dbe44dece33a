"""The widgets of the built-in windows."""
