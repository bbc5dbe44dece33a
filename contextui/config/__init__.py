"""Settings: their types and defaults, and the sources they are loaded from.

Precedence, highest first: flags, ``CONTEXTUI_*``, ``ANTHROPIC_*``, the project's
``.contextui/config.toml``, the user's ``config.toml``, the locale, the defaults. Each source is
validated as a whole, so an invalid value is reported even if another source overrides it.

Start with `contextui.config.sources.load_settings`.
"""
