"""Table 4.9's balls through the solver of scenes: the same errors as assembled, and as small as the lab's."""

from glug.studies.validate.tables.stokes_3d import AssembledSwirl, SceneSwirl


def test_the_matrix_free_solve_has_the_errors_of_the_assembled_one():
    fast, assembled = SceneSwirl(16).errors(), AssembledSwirl(16).errors()
    assert set(fast) == set("puvw")
    for quantity, norms in fast.items():
        for ours, theirs in zip(norms, assembled[quantity]):
            assert abs(ours - theirs) <= 0.01 * theirs


def test_velocities_converge_by_more_than_first_order():
    coarse, fine = SceneSwirl(12).errors(), SceneSwirl(24).errors()
    for quantity in "uvw":
        assert fine[quantity][1] < coarse[quantity][1] / 2.0**1.5  # in L1
