"""How often an alignment finds a known gain; `python -m bench.align` measures more."""

import pytest

from bench.align import WORLDS, World, run

WORLDS_OF_A_KIND = 40
VAGUE = next(world for world in WORLDS if "vague judge" in world.name)
WITH_GAIN = [world for world in WORLDS if world.name.startswith("half a point")]
pytestmark = pytest.mark.slow


async def test_almost_nothing_is_adopted_of_a_vague_judge_that_can_gain_nothing() -> None:
    adopted = [
        means for seed in range(WORLDS_OF_A_KIND) if (means := (await run(VAGUE, 60, seed))[0])
    ]
    assert len(adopted) <= 4  # at 5% each, more than 4 of 40 have a chance of one in twenty


@pytest.mark.parametrize("world", WITH_GAIN, ids=lambda world: world.name)
async def test_a_gain_of_half_a_point_is_found_with_60_labels(world: World) -> None:
    results = [await run(world, 60, seed) for seed in range(WORLDS_OF_A_KIND)]
    assert sum(gain > 0.2 for _, gain, _ in results) >= 0.7 * WORLDS_OF_A_KIND
