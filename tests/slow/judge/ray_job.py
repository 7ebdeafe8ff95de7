"""A job on a local Ray cluster of two workers: `python -m tests.slow.judge.ray_job ROWS FOLDER`."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import ray

from judge.integrations.ray import JudgeRows

ROWS = int(sys.argv[1])
FOLDER = Path(sys.argv[2])


class Named(JudgeRows):
    """Writes down its process id, so that the test can kill it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        (FOLDER / f"{os.getpid()}.pid").touch()


if __name__ == "__main__":
    # For each processor Ray starts a process before there is work for it; two are all that the two
    # workers need.
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = [
        {"prompt": f"Question {number}?", "completion": "An answer.", "id": number}
        for number in range(ROWS)
    ]
    scored = ray.data.from_items(rows, override_num_blocks=8).map_batches(
        Named,
        fn_constructor_kwargs={"model": "judge", "samples": 1, "requests": 4},
        batch_format="pyarrow",
        batch_size=10,
        compute=ray.data.ActorPoolStrategy(size=2),
    )
    (FOLDER / "scored.json").write_text(json.dumps(scored.take_all()))
