"""Sessions: the append-only log, its recorder, and restoring a session from it.

`store` finds and creates sessions; a `session` is a context, its windows and their `log`. `record`
writes each change as an `entry`; `restore` reads them back from the last `checkpoint` on, by
`replay`.
"""
