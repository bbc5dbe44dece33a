"""Which params a small word leads to: "in" to a folder or a room, "called" to a name."""

from contextui.agent.models.offline.lexicon.listed import listed

CUES = {
    "~to": "to target destination place position new text value name title recipient receiver "
    "status state column level percent amount room day person player owner who stage last end",
    "~with": "with new tags items entries content contents by value options members names",
    "~as": "as name path id title status state role type kind code key column",
    "~in": "in under folder path room column where place language lang category section day within",
    "~from": "from source old under room start account first",
    "~for": "for topic about subject minutes seconds hours duration who person reason category "
    "question text name title item amount days",
    "~at": "at time place hour when price position start",
    "~by": "by amount step author count key order who",
    "~before": "before",
    "~after": "after",
    "~called": "name title id path label topic text code key item question",
    "~saying": "text message content body words note question title description",
    "~tagged": "tags tag labels label categories category",
    "~every": "every seconds interval period minutes",
    "~object": "",
    "~of": "of amount item entry name",
    "~be": "value status state answer",
    "~until": "until end",
    "sentence": "summary reason comment remark note conclusion",
    "~because": "summary reason comment",
    ",": "summary reason comment remark",
}
"""Small words, and the params that they lead to, by words of their names."""

UNITS = ("#second", "#minute", "#hour", "#percent", "#degree", "#money", "#number", "#day",
         "#week", "#place")  # fmt: skip
"""Groups of nouns that go with any number."""

FREE = frozenset(
    listed(
        "text query words content contents message note body title label description summary "
        "gist pattern old new value path file filename url question answer comment reason "
        "code topic subject search term"
    )
)
"""Names of params that take words as they are: what they say need not be shown in the window."""

PATHS = frozenset(["path", "file", "filename", "folder", "directory", "dir", "under", "location"])
"""Names of params that take the path of a file."""

TIMES = frozenset(("time", "at", "when", "hour", "start", "until", "clock"))
"""Names of params that take a time of day."""

AMOUNTS = frozenset(("amount", "count", "quantity", "qty", "number", "pieces", "times"))
"""Names of params that say how many of something."""

POSITIONS = frozenset(
    listed("place position index rank slot spot number to at line page first last start end from")
)
"""Names of params that take a place among others."""
