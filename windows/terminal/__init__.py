"""Terminal window: a shell in a pseudo terminal, shared by person and model."""
