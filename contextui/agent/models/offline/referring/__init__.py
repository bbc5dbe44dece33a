"""What the words of a clause stand for: the verb, the windows and classes, and what "it" is.

Begin with `roles`, which finds the word that says what to do, and `mentions`, which finds where a
clause names a window. `references` says which open windows are meant, `knowing` which have to do
with a word, `noting` what is told to be kept, `topic` what the conversation was about. `spelling`
reads slips of the fingers.
"""
