"""The pressure that a run writes is the whole of it, also when it is found in two parts."""

import numpy as np
import pytest

from glug.simulation import Simulation


@pytest.mark.parametrize("viscosity", [0.0, 100.0], ids=["water", "honey"])
def test_a_liquid_at_rest_carries_its_weight(viscosity):
    depth, density, g = 0.537, 1000.0, 9.81
    simulation = Simulation(
        {
            "domain": {"size": [1.0, 1.0], "resolution": 16},
            "gravity": [0, -g, 0],
            "liquids": {"liquid": {"density": density, "viscosity": viscosity}},
            "volumes": [{"liquid": "liquid", "shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, depth, 1]}}],
            "output": {"fields": True},
        }
    )
    simulation.step_once()
    fields = simulation.state.fields
    height = fields["corner"][1] + float(fields["dx"]) * (np.arange(fields["p"].shape[1]) + 0.5)
    wet = (height > 0) & (height < depth - 0.1)
    middle = fields["p"][fields["p"].shape[0] // 2, wet, 0]
    assert np.abs(middle / (density * g * (depth - height[wet])) - 1.0).max() < 0.02
