"""Rows per second in one process, and on a local Ray cluster with one and two workers: `python -m
bench.ray_cluster`.

The model stub takes 0.5 s per answer. The one process and each worker have 64 rows in progress, so
at most 128 rows per second. With two workers, the stub, Ray and the workers share the machine's
cores.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS = 4_000
ROUNDS = 3
AT_ONCE = 64
LATENCY_S = 0.5


def main() -> None:
    command = [sys.executable, "-m", "bench.model_stub", str(LATENCY_S)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stub,
    ):
        assert stub.stdout
        assert stub.stdin
        os.environ["OPENAI_BASE_URL"] = stub.stdout.readline().strip()
        raw = Path(folder, "raw.jsonl")
        rows = (
            {"prompt": f"Question {number}?", "completion": "It is so."} for number in range(ROWS)
        )
        raw.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        import ray

        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        on_cluster(raw, 2)  # the first job also starts what the later ones reuse
        for number in range(ROUNDS):
            print(
                (
                    "one process "
                    f"{ROWS / in_one_process(raw, Path(folder, f'{number}.jsonl')):.0f} rows/s"
                ),
                flush=True,
            )
            for workers in (1, 2):
                print(f"{workers} workers {ROWS / on_cluster(raw, workers):.0f} rows/s", flush=True)
        ray.shutdown()
        stub.stdin.close()


def in_one_process(raw: Path, output: Path) -> float:
    began = time.monotonic()
    judge = Path(sys.executable).with_name("judge")
    options = ["--samples", "1", "--concurrency", str(AT_ONCE), "--model", "stub"]
    subprocess.run(
        [judge, "batch", raw, "-o", output, *options], check=True, stdout=subprocess.DEVNULL
    )
    return time.monotonic() - began


def on_cluster(raw: Path, workers: int) -> float:
    import ray

    from judge.integrations.ray import JudgeRows

    began = time.monotonic()
    options = {"model": "stub", "samples": 1, "requests": AT_ONCE}
    rows = ray.data.read_json(str(raw), override_num_blocks=8)
    scored = rows.map_batches(
        JudgeRows,
        fn_constructor_kwargs=options,
        batch_format="pyarrow",
        batch_size=500,
        compute=ray.data.ActorPoolStrategy(size=workers),
    )
    assert scored.materialize().count() == ROWS
    return time.monotonic() - began


if __name__ == "__main__":
    main()
