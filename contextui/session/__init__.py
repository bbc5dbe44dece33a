"""What lasts: the log of a session, and everything that is read back from it.

`store` finds and makes sessions; a `session` is a context, its windows and their `log`. The
`recorder` follows them and writes each change as an `entry`; `loading` reads them back, from the
last `checkpoint` on, by `replay` and `returning`.
"""
