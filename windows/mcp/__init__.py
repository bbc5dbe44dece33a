"""MCP servers as windows: one window per configured server; see `window`."""
