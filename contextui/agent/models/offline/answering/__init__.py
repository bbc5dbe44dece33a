"""What is said: answers from what the windows show, and words for what was done or not.

Begin with `saying`, which has the sentences of both languages, then `asking`, which answers
questions; `finding` says which of the things shown a question is about.
"""
