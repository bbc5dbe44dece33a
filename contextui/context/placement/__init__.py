"""Placement by price: what each request contains, and when outdated content is removed.

The transcript is a list of slots that only grows. A slot has two forms: `sent`, what the last
request contained at this place, and `want`, what a transcript written from scratch would contain
there (None: nothing). A slot is outdated where the two differ. Everything that happens (a newer
version, a close, a drop, an edit, a gist, a compaction) only sets `want`; a sweep from a place sets
`sent = want` for every slot from there on. Nothing else changes what was sent.

A sweep is made when carrying outdated content has cost as much as writing again what follows it:
``rent = read × Σ (sent − want) × (requests since + 8)`` is then at least
``price = (write − read) × Σ want``.

`transcript` decides, and applies what was decided: it needs token counts only. The texts are made
elsewhere: `items` says what the slots of an item show and what people see of it,
`contextui.context.messages` makes messages of slots, and `compose` puts requests together. `facts`
is what the log of a session keeps.
"""
