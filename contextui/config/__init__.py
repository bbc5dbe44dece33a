"""The settings: what there is to choose, and where each choice comes from.

What counts, first to last: flags, ``CONTEXTUI_*``, ``ANTHROPIC_*``, the project's
``.contextui/config.toml``, the user's ``config.toml``, what the locale says, the defaults. Each of
them is checked whole, so that a wrong value is told even where it would not count.

Start with `contextui.config.sources.load_settings`.
"""
