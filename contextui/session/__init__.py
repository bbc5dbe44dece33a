"""Sessions: the append-only log, its recorder, and restoring a session from it.

`store` finds and creates sessions; a `session` is a context, its windows and their `log`. `record`
writes each change as an `entry`; `restore` reads them back from the last `checkpoint` on, by
`replay`. `follow` does so for a session that runs in another process, as its log grows. `fork`
copies a session up to a turn; `versions` keeps what was there before each file that a session
writes, and `rewind` restores it.
"""

from typing import TYPE_CHECKING

from contextui.lazy import lazy_exports

if TYPE_CHECKING:
    from contextui.session.code.index import CodeStoreError as CodeStoreError
    from contextui.session.code.refs import resolve_code_refs as resolve_code_refs
    from contextui.session.code.store import CodeFile as CodeFile
    from contextui.session.code.store import CodeStore as CodeStore
    from contextui.session.notes import Note as Note
    from contextui.session.notes import Notes as Notes
    from contextui.session.paths import escape_project_path as escape_project_path
    from contextui.session.session import Session as Session
    from contextui.session.session import SessionOptions as SessionOptions
    from contextui.session.store import SessionStore as SessionStore

__getattr__, __dir__ = lazy_exports(__name__)
