"""Editor window: its buffer, its actions and its widget."""
