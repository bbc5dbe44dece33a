"""What a request shows: the open windows, what they declare and hold, and what was said and done.

Begin with `scene`, which reads a request, and `blocks`, which holds what a window is and can do.
`declared` reads params, `profiles` says what words an action or a window is known by, `items` and
`paths` find a thing among those that a window shows. `surroundings` is all of it, as a clause is
understood in it.
"""
