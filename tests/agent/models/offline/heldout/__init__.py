"""Conversations by people who did not know the model: nobody tunes the model to them."""
