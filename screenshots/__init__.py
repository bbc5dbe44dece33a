"""The pictures of the screen, and what makes them."""
