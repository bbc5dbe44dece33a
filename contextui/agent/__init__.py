"""The loop: a person's words go in, the model reads the context, acts on windows, answers.

`controller` is the loop, `steps` is what it repeats, `turn` what is known of the turn under way.
A request passes `gate`, takes the form of `wire`, is asked again by `retry` and changed by
`repairing`; an answer's calls go through `protocol` to `tools`, and what writes asks `approval`.
Before a turn come `beforehand`, `meanwhile` and `making_room`; `ending` leaves whatever became of
it whole.
"""
