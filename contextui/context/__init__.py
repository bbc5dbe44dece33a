"""The model's context: items, the requests composed from them, and their token cost.

Start with `manager`: it makes every change to an `item` and composes every request. `ledger` holds
the items and all derived state. `compose` builds messages incrementally, from cached history and
the running turn, so that the work is proportional to what changed. `render` and `trim` are the same
as pure functions, and the specification that `compose` is tested against. `placement` alone decides
where windows go in a request, `fit` what is reduced first when the budget is exceeded.
"""
