"""Kernel of the coarsest level: the columns of its matrix from products with it."""

from glug.jit import kernel


@kernel(inline=True)
def source(place, colour):
    """The sample of every third, from `colour` on, that is at `place` or next to it."""
    return place + (colour - place + 1) % 3 - 1


@kernel
def take_columns(products, places, number, ci, cj, ck, matrix):
    """Write the products with one at every third sample into the columns of these samples.

    `number` are the columns of the component that was one there, -1 at samples that are no unknowns; `places` (3, n)
    are the samples of the rows, component by component.
    """
    ni, nj, nk = number.shape
    row = 0
    for c in range(len(places)):
        place, product = places[c], products[c]
        for n in range(place.shape[1]):
            i, j, k = place[0, n], place[1, n], place[2, n]
            si, sj, sk = source(i, ci), source(j, cj), source(k, ck)
            if 0 <= si < ni and 0 <= sj < nj and 0 <= sk < nk and number[si, sj, sk] >= 0:
                matrix[row, number[si, sj, sk]] = product[i, j, k]
            row += 1
