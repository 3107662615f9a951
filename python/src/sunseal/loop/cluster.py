# SPDX-License-Identifier: MIT OR Apache-2.0
"""A Dask cluster that fleets, plans and sweeps send their work to."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from sunseal.errors import SunsealError


@contextlib.contextmanager
def connected(address: str) -> Iterator[tuple[Any, Any]]:
    """Give Dask's package and a client of the scheduler at an address; both are untyped.

    Raises
    ------
    SunsealError where the package is not installed, no scheduler answers, or the one that did goes away.
    """
    try:
        import distributed
    except ImportError as e:
        raise SunsealError("`--dask` needs Dask distributed", hint="pip install 'sunseal[fleet]'") from e
    dask: Any = distributed  # it has no types of its own
    try:
        client = dask.Client(address, timeout="10s")
    except (OSError, ValueError, TimeoutError) as e:
        raise SunsealError(f"no Dask scheduler answers at {address}: {e}") from e
    # What it tells of a lost connection, with its own stack, is told in a sentence below.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with client:
        try:
            yield dask, client
        except (dask.client.FutureCancelledError, dask.CancelledError, dask.comm.CommClosedError) as e:
            raise SunsealError(
                f"the Dask scheduler at {address} went away in the middle of the work",
                hint="start it anew and give the same command again: a sweep and a fleet go on from what is there",
            ) from e
