"""Code store: code written in a conversation, saved as files with an index.

`store` saves, reads and lists code files; `index` holds their metadata; `refs` replaces references
in an answer with the code, and saves code blocks.
"""
