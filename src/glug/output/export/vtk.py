"""Time series for ParaView: VTK's XML files with raw binary data, written without the VTK library.

liquid.pvd     the surface: velocity [m/s] and speed at its points
particles.pvd  the particles with all their attributes
solids.pvd     the solids where they are in each frame
fields.pvd     pressure [Pa], velocity, distance and octree level in the cells, where the run has fields

A .pvd file lists the files of a series with their times [s].
"""

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from glug.geometry.sampled import SurfaceMesh
from glug.output.export.quantities import cell_velocity
from glug.output.export.shot import Shot, ShotFrame

_TYPES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}


def write(shot: Shot, folder: Path) -> None:
    series: dict[str, list[tuple[float, int, str]]] = {}

    def place(name: str, frame: ShotFrame, part: int, file: str) -> Path:
        series.setdefault(name, []).append((frame.time, part, f"{name}/{file}"))
        (folder / name).mkdir(exist_ok=True)
        return folder / name / file

    for frame in shot:
        number = f"{frame.index:04d}"
        surface = frame.surface
        speed = np.linalg.norm(surface.velocities, axis=1)
        data = {"velocity": surface.velocities, "speed": speed}
        _write_mesh(place("liquid", frame, 0, f"{number}.vtp"), surface, data, shot.offset)
        if shot.has_particles:
            _write_points(place("particles", frame, 0, f"{number}.vtp"), frame.particles, shot.offset)
        for part, body in enumerate(shot.bodies):
            still = not (body.moving or body.deforming)
            path = place("solids", frame, part, f"{body.name}.vtp" if still else f"{body.name}_{number}.vtp")
            if not path.exists():
                placed = body.placed(frame)
                _write_mesh(path, placed, {"velocity": placed.velocities}, shot.offset)
        if frame.fields:
            _write_cells(place("fields", frame, 0, f"{number}.vti"), frame.fields, shot.offset)
    for name, entries in series.items():
        _write_series(folder / f"{name}.pvd", entries)


def _write_series(path: Path, entries: list[tuple[float, int, str]]) -> None:
    lines = [
        f'<DataSet timestep="{time:.9g}" group="" part="{part}" file={quoteattr(file)}/>'
        for time, part, file in entries
    ]
    body = "\n".join(lines)
    path.write_text(
        f'<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n<Collection>\n{body}\n'
        "</Collection>\n</VTKFile>\n"
    )


class _Appended:
    """Arrays that go, raw, to the end of a file; `element` is how the file refers to one."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.offset = 0

    def element(self, name: str, values: np.ndarray) -> str:
        kind = values.dtype.newbyteorder("<")
        values = np.ascontiguousarray(values, dtype=kind)
        parts = values.shape[1] if values.ndim == 2 else 1
        text = (
            f'<DataArray type="{_TYPES[values.dtype.str[1:]]}" Name={quoteattr(name)} NumberOfComponents="{parts}" '
            f'format="appended" offset="{self.offset}"/>'
        )
        self.arrays.append(values)
        self.offset += 8 + values.nbytes
        return text

    def elements(self, data: Mapping[str, np.ndarray]) -> str:
        return "".join(self.element(name, values) for name, values in data.items())

    def write(self, path: Path, kind: str, body: str) -> None:
        with open(path, "wb") as file:
            file.write(
                f'<?xml version="1.0"?>\n<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" '
                f'header_type="UInt64">\n{body}\n<AppendedData encoding="raw">\n_'.encode()
            )
            for values in self.arrays:
                file.write(np.uint64(values.nbytes).astype("<u8").tobytes())
                file.write(values.tobytes())
            file.write(b"\n</AppendedData>\n</VTKFile>\n")


def _write_mesh(path: Path, mesh: SurfaceMesh, data: Mapping[str, np.ndarray], offset: np.ndarray) -> None:
    _write_poly_data(path, _placed(mesh.vertices, offset), "Polys", mesh.triangles, data)


def _write_points(path: Path, particles: Mapping[str, np.ndarray], offset: np.ndarray) -> None:
    data = {name: values for name, values in particles.items() if name != "position"}
    points = _placed(particles["position"], offset)
    _write_poly_data(path, points, "Verts", np.arange(len(points))[:, None], data)


def _placed(points: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Points where they are in the scene, in double precision if they are far from the point 0."""
    return points + offset if offset.any() else points


def _write_poly_data(
    path: Path, points: np.ndarray, kind: str, corners: np.ndarray, data: Mapping[str, np.ndarray]
) -> None:
    """Points (n, 3), cells of a `kind` by the numbers of their corners (m, c), values at the points."""
    appended = _Appended()
    count, each = corners.shape
    body = (
        f'<PolyData><Piece NumberOfPoints="{len(points)}" NumberOf{kind}="{count}">'
        f"<Points>{appended.element('Points', points)}</Points>"
        f"<{kind}>{appended.element('connectivity', corners.astype(np.int32).ravel())}"
        f"{appended.element('offsets', each * np.arange(1, count + 1, dtype=np.int32))}</{kind}>"
        f'<PointData Vectors="velocity">{appended.elements(data)}</PointData></Piece></PolyData>'
    )
    appended.write(path, "PolyData", body)


def _write_cells(path: Path, fields: Mapping[str, np.ndarray], offset: np.ndarray) -> None:
    """Cell values; VTK counts x fastest. Velocities are the means of opposite faces."""
    appended = _Appended()
    shape, dx = fields["phi"].shape, float(fields["dx"])
    data = {"phi": fields["phi"].ravel("F"), "p": fields["p"].ravel("F"), "velocity": cell_velocity(fields)}
    data["velocity"] = np.stack([data["velocity"][..., axis].ravel("F") for axis in range(3)], axis=1)
    if "level" in fields:  # of an octree's leaves
        data["level"] = fields["level"].ravel("F")
    extent = " ".join(f"0 {n}" for n in shape)
    digits = 17 if offset.any() else 9
    origin = " ".join(f"{x:.{digits}g}" for x in fields["corner"] + offset)
    body = (
        f'<ImageData WholeExtent="{extent}" Origin="{origin}" Spacing="{dx:.9g} {dx:.9g} {dx:.9g}">'
        f'<Piece Extent="{extent}"><CellData Vectors="velocity">{appended.elements(data)}</CellData></Piece>'
        "</ImageData>"
    )
    appended.write(path, "ImageData", body)
