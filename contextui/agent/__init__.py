"""The loop: a person's words go in, the model reads the context, acts on windows, answers."""
