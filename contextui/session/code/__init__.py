"""Code that was written in a conversation: files of its own, and an index of them.

`store` saves, reads and lists; `file` is what is known of one piece, `index` what no file can
tell, `refs` puts code where a model only named it.
"""
