"""A clause in runs: what is left once the verb and the window are known, each run a value.

Begin with `runs`, then `collecting`, which says where one value ends and the next begins.
`counting` looks after numbers and their units, `edges` and `behind_verbs` after small words that
belong to no value.
"""
