"""Parts of a table for tests: functions that workers import by name."""

from functools import partial

import numpy as np

from partita.federated.at_rows import coded
from partita.streaming.fitting_parts import Wanted, fit_parts, hold_rows, terms_of


def taken(ensemble, rows):
    return ensemble.rows(rows)


def chosen_of(piece, state):
    return None if state is None else state.get("chosen")


def wanted(method, init="spectral", k=3, **settings):
    return Wanted(method, None if method == "nbce-vb" else k, settings, seed=5, init=init)


def under(ensemble, asked):
    """The terms of a fit of a table whose clusterings all count, and the table under them."""
    terms = terms_of(ensemble.names, ensemble.classes, ensemble.weights.tolist(), asked)
    return terms, coded(ensemble, terms, "all")


def fitted(engine, ensemble, pieces, asked, wrap=lambda parts: parts):
    terms, ensemble = under(ensemble, asked)
    parts = hold_rows(engine, partial(taken, ensemble), pieces, terms)
    found = fit_parts(wrap(parts), terms)
    parts.release()
    return found


def numbers(found):
    """All that a fit came to."""
    shares = () if found.model.shares is None else (found.model.shares,)
    return [found.model.bias, found.model.stacked, *shares, np.array(found.runs.best.trace)]
