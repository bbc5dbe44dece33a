"""The values of an action's params, found in a clause and in what its window shows.

Begin with `sharing`, which gives each run to the param that it fits best. Runs become values by
the kind of the param: `values`, `quantities`, `pointing`, `choosing`. `whole` finds what no single
run holds, `completing` what is meant but not said. `frame` and `filled` are what goes in and what
comes out.
"""
