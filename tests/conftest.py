"""Settings that all tests share."""

import os

from hypothesis import HealthCheck, settings

# The first example may load the vocabulary, and windows have threads: time says nothing here.
settings.register_profile(
    "contextui", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("contextui")

# What is written waits in a buffer where people run the program; what goes wrong then must be seen.
os.environ.pop("PYTHONUNBUFFERED", None)
