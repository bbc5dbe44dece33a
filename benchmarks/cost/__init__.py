"""Cost of agent runs at cache prices: recorded runs by policy, and the real loop by placement."""
