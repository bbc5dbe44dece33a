"""Built-in models: `anthropic` over the network, `offline` and `scripted` without one."""
