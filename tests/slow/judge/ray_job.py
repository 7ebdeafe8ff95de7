"""A job on a local Ray cluster of two workers: `python -m tests.slow.judge.ray_job RAW SCORED PIDS`."""

import os
import sys
from pathlib import Path
from typing import Any

import ray

from judge.integrations.ray import JudgeRows

RAW, SCORED, PIDS = map(Path, sys.argv[1:])


class Named(JudgeRows):
    """Writes down its process id, so that the test can kill it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        (PIDS / str(os.getpid())).touch()


if __name__ == "__main__":
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    rows = ray.data.read_json(str(RAW), override_num_blocks=8)
    options = {"model": "judge", "samples": 1, "requests": 4}
    scored = rows.map_batches(
        Named,
        fn_constructor_kwargs=options,
        batch_format="pyarrow",
        batch_size=10,
        compute=ray.data.ActorPoolStrategy(size=2),
    )
    scored.write_parquet(str(SCORED))
