"""The conversation pane and the prompt."""
