"""The models that ship: `anthropic` over the network, `offline` and `scripted` without one."""
