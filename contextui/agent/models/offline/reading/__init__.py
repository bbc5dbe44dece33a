"""A person's words in parts: tokens, and clauses of one wish each. No window is known here.

Begin with `words`, which makes the tokens (`token`) that `scanning` and `chinese` find in a text,
each with the keys that it is known by. `splitting` parts them into `clauses`, once `naming`,
`mending`, `phrasal` and `telling_done` have put together what belongs together.
"""
