"""What a clause can mean: each declared action and each class of windows, with a score.

Begin with `matching`. `opening` does the same for the wish to open a window, `weighing` says how
well words and action fit, `objects` what the verb is about, `taking_in` what something is to be
put on, and `caution` what speaks against it.
"""
