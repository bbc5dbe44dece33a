"""The open windows, side by side."""
