"""Blow over a tank of water: a force of your own, and a stage of your own that looks at every step."""

import math

import numpy as np

import glug

LENGTH, DEPTH = 1.0, 0.3  # m
PUSH = 1.0  # m/s2
TANK = {
    "name": "wind",
    "domain": {"size": [LENGTH, 2 * DEPTH], "resolution": 32},
    "liquids": {"water": {"material": "water"}},
    "volumes": [{"liquid": "water", "shape": {"kind": "box", "lower": [0, 0], "upper": [LENGTH, DEPTH]}}],
}
WAVE = math.pi / LENGTH  # of the water as it swings from side to side, once in PERIOD
PERIOD = 2 * math.pi / math.sqrt(9.81 * WAVE * math.tanh(WAVE * DEPTH))


def wind(points: np.ndarray, time: float) -> np.ndarray:
    """The acceleration (n, 3) [m/s2] of water at points (n, 3) [m]: along x, everywhere alike."""
    return np.broadcast_to([PUSH, 0.0, 0.0], points.shape)


def slope(context: glug.StepContext) -> float:
    """Of the line through the heights at which phi is zero, column by column."""
    x, y, _ = context.grid.coordinates((0.5, 0.5, 0.5))
    inside = (x > 0.0) & (x < LENGTH)
    columns = context.phi[inside, :, 0]
    top = np.argmax(columns > 0.0, axis=1)  # the first cell above the water
    heights = [np.interp(0.0, phi[t - 1 : t + 1], y[t - 1 : t + 1]) for phi, t in zip(columns, top)]
    return float(np.polyfit(x[inside], heights, 1)[0])


def blow() -> float:
    """The mean slope of the surface while the water swings once: PUSH / g."""
    slopes, steps = [], []

    def gauge(context: glug.StepContext) -> None:
        slopes.append(slope(context))
        steps.append(context.dt)

    simulation = glug.Simulation(
        TANK, forces=[wind], stages=lambda stages: stages.after("geometry", glug.Stage("gauge", gauge))
    )
    while simulation.state.time < PERIOD:
        simulation.step_once()
    return float(np.average(slopes, weights=steps))


if __name__ == "__main__":
    print(f"mean slope {blow():.3f}, PUSH / g = {PUSH / 9.81:.3f}")
