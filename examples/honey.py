"""Pour honey from Python: frames come as arrays, nothing is written."""

import glug


def pour(frames: int = 12, resolution: int = 40) -> list[tuple[float, float]]:
    """The honey poured so far [m3] and the height of its lowest point [m], frame by frame."""
    scene = glug.load("honey-coil", {"domain.resolution": resolution, "time.frames": frames})
    poured = []
    for frame in glug.Simulation(scene).run():
        if not frame.stats:  # frame 0 is the initial state: no step has been taken
            continue
        height = frame.particles["position"][:, 1].min()
        volume = frame.stats[-1].target_volume
        solve = frame.stats[-1].solves["viscosity"]
        print(f"{frame.time:.3f} s: {volume * 1e6:.2f} ml down to {height:.3f} m, {solve.iterations} iterations")
        poured.append((volume, float(height)))
    return poured


if __name__ == "__main__":
    pour()
