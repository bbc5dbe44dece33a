"""The model of the context: items, what of them is sent, and what it costs.

`manager` is the way in: every change of an `item`, and every request. What there is stands in
`ledger`; `compose` makes messages of it, from `history` and from the turn under way, so that work
is in proportion to what changed. `render` and `trim` say the same as pure functions, and are what
`compose` is tested against. Where windows stand is decided in `placement` alone, who goes first
in `room`.
"""
