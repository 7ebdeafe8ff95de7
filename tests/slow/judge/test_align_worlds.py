"""How often an alignment finds something, where it is known what can be gained; `python -m bench.align` has more."""

import pytest

from bench.align import WORLDS, World, run

WORLDS_OF_A_KIND = 40
pytestmark = pytest.mark.slow


async def test_hardly_anything_is_adopted_where_nothing_can_be_gained() -> None:
    adopted = [means for seed in range(WORLDS_OF_A_KIND) if (means := (await run(WORLDS[0], 60, seed))[0])]
    assert len(adopted) <= 4  # at 5%, more of 40 come by chance in one case of twenty


@pytest.mark.parametrize("world", WORLDS[1:], ids=lambda world: world.name)
async def test_half_a_point_is_found_at_sixty_labels(world: World) -> None:
    results = [await run(world, 60, seed) for seed in range(WORLDS_OF_A_KIND)]
    assert sum(gain > 0.2 for _, gain, _ in results) >= 0.7 * WORLDS_OF_A_KIND
