"""`contextui dev`: a window beside what the model reads of it, reloaded on every save."""
