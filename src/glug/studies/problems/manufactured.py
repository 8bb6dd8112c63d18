"""The manufactured flows of Batty (2010), section 4.8, with the misprints corrected: u, p, stresses and input.

Every flow fits a disc or an annulus around the origin. A problem hands its fields over as functions of points
(n, 2); u* = u + (grad p - div tau) dt / rho with dt = rho = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glug.grids.regular import Grid

HALF_WIDTH = 1.5  # [m] of the plane or space around them all
MU = 0.1  # [Pa s] in all of them
ROOT3 = np.sqrt(3.0)
Fields = dict[str, np.ndarray]


def centred_grid(n: int, dim: int = 2) -> Grid:
    """n cells along every side of [-1.5, 1.5]^dim."""
    cells = (n, n, n if dim == 3 else 1)
    return Grid(2 * HALF_WIDTH / n, cells, origin=(-HALF_WIDTH, -HALF_WIDTH, -HALF_WIDTH if dim == 3 else 0.0), dim=dim)


@dataclass(frozen=True)
class Problem:
    """A flow between two circles, each a free surface ("air") or a wall ("solid"); radius 0 is no inner circle."""

    name: str
    table: str  # of Batty (2010)
    outer: tuple[float, str]
    inner: tuple[float, str]
    physics: str  # pressure, viscosity or stokes
    fields: Callable[[np.ndarray], Fields]  # u, v, u_star, v_star, p, tau_xx, tau_xy
    quantities: tuple[str, ...]
    spin: float = 0.0  # of the inner wall, clockwise [rad/s]

    @property
    def closed(self) -> bool:
        """Without a free surface: pressure is known up to a constant."""
        return "air" not in (self.outer[1], self.inner[1])


def _with_input(fields: Fields, grad_p: tuple, div_tau: tuple) -> Fields:
    fields["u_star"] = fields["u"] + grad_p[0] - div_tau[0]
    fields["v_star"] = fields["v"] + grad_p[1] - div_tau[1]
    return fields


def free_disc(points: np.ndarray) -> Fields:
    """p = x^2 + y^2 - 1, u = (2 x y, -y^2). The printed input (4.52) has the sign of grad p wrong."""
    x, y = points.T
    fields = {"u": 2 * x * y, "v": -(y**2), "p": x**2 + y**2 - 1}
    return _with_input(fields, (2 * x, 2 * y), (0, 0))


def walled_disc(points: np.ndarray) -> Fields:
    """p = x y^3, u = (y, -x)."""
    x, y = points.T
    return _with_input({"u": y, "v": -x, "p": x * y**3}, (y**3, 3 * x * y**2), (0, 0))


def swirl(k: Callable, dk: Callable, ddk: Callable, with_pressure: bool) -> Callable[[np.ndarray], Fields]:
    """u = k(r) (-y, x), with p = x y or none."""

    def fields(points: np.ndarray) -> Fields:
        x, y = points.T
        r = np.maximum(np.hypot(x, y), 1e-9)  # the origin lies outside every annulus
        out = {
            "u": -k(r) * y,
            "v": k(r) * x,
            "tau_xx": -2 * MU * x * y * dk(r) / r,
            "tau_xy": MU * dk(r) * (x**2 - y**2) / r,
            "p": x * y if with_pressure else 0 * x,
        }
        pull = MU * (ddk(r) + 3 * dk(r) / r)
        gradient = (y, x) if with_pressure else (0, 0)
        return _with_input(out, gradient, (-pull * y, pull * x))

    return fields


class Power:
    """Re or Im of the sum of c r^a: a function of r whose derivatives are exact."""

    def __init__(self, part: Callable, coefficients: np.ndarray, exponents: np.ndarray):
        self.part, self.c, self.a = part, np.asarray(coefficients, complex), np.asarray(exponents, complex)

    def derivative(self, r: np.ndarray, order: int = 0) -> np.ndarray:
        """The derivative of that order; zero at r = 0, where it oscillates without end."""
        factor = np.ones_like(self.a)
        for i in range(order):
            factor = factor * (self.a - i)
        terms = (self.c * factor)[:, None] * np.exp((self.a - order)[:, None] * np.log(np.where(r > 0, r, 1.0)))
        return np.where(r > 0, self.part(terms.sum(axis=0)), 0.0)

    def curvature(self, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A and B of the second derivatives A delta_ij + B x_i x_j of this function of r = |x|."""
        safe = np.where(r > 0, r, 1.0)
        first, second = self.derivative(r, 1), self.derivative(r, 2)
        return first / safe, (second - first / safe) / safe**2


def oscillating(blend: np.ndarray) -> Callable[[np.ndarray], Fields]:
    """psi = r S(r) cos 2t cos(sqrt3 ln r), p = 4 sqrt3 mu (S / r) sin 2t sin(sqrt3 ln r), S = sum blend_k r^k.

    With r S = Re F, F = sum c r^(k + 1 + i sqrt3): u = (psi_y, -psi_x), div tau = mu curl laplace psi. The traction
    vanishes where S = 1, S' = S'' = 0.
    """
    k = np.arange(len(blend))
    # G = psi / (x^2 - y^2), L = laplace(psi) / (x^2 - y^2), H = p / (2 x y)
    a = k + 1 + 1j * ROOT3
    G = Power(np.real, blend, a - 2)
    L = Power(np.real, blend * (a**2 - 4), a - 4)
    H = Power(np.imag, 4 * ROOT3 * MU * blend, k - 3 + 1j * ROOT3)

    def slope(f: Power, x: np.ndarray, y: np.ndarray, r: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient of f(r) (x^2 - y^2)."""
        A, _ = f.curvature(r)
        return A * x * q + 2 * x * f.derivative(r), A * y * q - 2 * y * f.derivative(r)

    def fields(points: np.ndarray) -> Fields:
        x, y = points.T
        r, q = np.hypot(x, y), x**2 - y**2
        psi_x, psi_y = slope(G, x, y, r, q)
        lap_x, lap_y = slope(L, x, y, r, q)
        A, B = G.curvature(r)
        H0, (HA, _) = H.derivative(r), H.curvature(r)
        out = {
            "u": psi_y,
            "v": -psi_x,
            "p": 2 * x * y * H0,
            "tau_xx": 2 * MU * B * x * y * q,
            "tau_xy": MU * (B * (y**2 - x**2) * q - 4 * A * (x**2 + y**2) - 4 * G.derivative(r)),
        }
        grad_p = (HA * x * 2 * x * y + 2 * y * H0, HA * y * 2 * x * y + 2 * x * H0)
        return _with_input(out, grad_p, (MU * lap_y, -MU * lap_x))

    return fields


def _smoothstep(radius: float, begin: float) -> np.ndarray:
    """Coefficients by power of r of s^3 (10 - 15 s + 6 s^2), s = (r - begin) / (radius - begin)."""
    s = np.polynomial.Polynomial([-begin / (radius - begin), 1 / (radius - begin)])
    return (s**3 * (10 - 15 * s + 6 * s**2)).coef


STRESSES = ("tau_xx", "tau_xy", "u")
ALL = ("p", *STRESSES)

PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("pressure-free-surface", "4.1", (1.0, "air"), (0.0, "air"), "pressure", free_disc, ("p", "u")),
        Problem("pressure-walls", "4.2", (1.0, "solid"), (0.0, "solid"), "pressure", walled_disc, ("p", "u")),
        Problem(
            "viscosity-free-surface",
            "4.3",
            (1.0, "air"),
            (0.5, "air"),
            "viscosity",
            swirl(
                lambda r: r**3 / 3 - 0.75 * r**2 + 0.5 * r,
                lambda r: (r - 1) * (r - 0.5),
                lambda r: 2 * r - 1.5,
                False,
            ),
            STRESSES,
        ),
        Problem(
            "viscosity-walls",
            "4.4",
            (1.0, "solid"),
            (0.5, "solid"),
            "viscosity",
            swirl(lambda r: r - 1.5 + 0.5 / r, lambda r: 1 - 0.5 / r**2, lambda r: 1 / r**3, False),
            STRESSES,
        ),
        # The text says r = 1; its own traction vanishes at 0.75.
        Problem(
            "stokes-free-surface",
            "4.5",
            (0.75, "air"),
            (0.0, "air"),
            "stokes",
            oscillating(_smoothstep(0.75, 0.0)),
            ALL,
        ),
        Problem(
            "stokes-walls",
            "4.6",
            (1.0, "solid"),
            (0.5, "solid"),
            "stokes",
            swirl(
                lambda r: -(1024 * r**2 - 2304 * r + 1664 - 384 / r),
                lambda r: -(2048 * r - 2304 + 384 / r**2),
                lambda r: -(2048 - 768 / r**3),
                True,
            ),
            ALL,
        ),
        # Printed (4.62) and (4.63) lack the shift by 0.1 in the blending factor.
        Problem(
            "stokes-mixed", "4.7", (0.75, "air"), (0.1, "solid"), "stokes", oscillating(_smoothstep(0.75, 0.1)), ALL
        ),
        Problem(
            "stokes-moving-walls",
            "4.8",
            (1.0, "solid"),
            (0.5, "solid"),
            "stokes",
            swirl(
                lambda r: -(4 * r**2 - 9 * r + 4.5 + 0.5 / r),
                lambda r: -(8 * r - 9 - 0.5 / r**2),
                lambda r: -(8 + 1 / r**3),
                True,
            ),
            ALL,
            spin=2.0,
        ),
    )
}
