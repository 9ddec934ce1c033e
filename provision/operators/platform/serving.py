"""The running controller: kopf watches and answers the probe, the reconciler works."""

from __future__ import annotations

import asyncio
import logging

import kopf

from provision.operators.platform.cluster import Cluster
from provision.operators.platform.reconciling import LOG, Reconciler
from provision.operators.platform.watching import make_registry, make_settings


async def serve(port: int) -> int:
    """Reconcile and answer on http://127.0.0.1:`port`/readyz until a signal; the exit status.

    It answers once everything was looked at. The cluster is that of $KUBECONFIG.
    """
    LOG.setLevel(logging.INFO)
    # Each of the requests that kopf repeats would be a line; the reconciler tells of them once.
    logging.getLogger("kopf._cogs.clients").setLevel(logging.CRITICAL)
    settings = make_settings()
    connection = kopf.login_with_kubeconfig(settings=settings)
    if connection is None:
        LOG.error("the kubeconfig names no cluster")
        return 1
    async with Cluster(connection) as cluster:
        reconciler = Reconciler(cluster)
        await reconciler.begin()
        work = asyncio.create_task(reconciler.run())
        watch = asyncio.create_task(
            kopf.operator(
                registry=make_registry(reconciler.notice),
                settings=settings,
                standalone=True,
                clusterwide=True,
                liveness_endpoint=f"http://127.0.0.1:{port}/readyz",
            )
        )
        return await _until_one_ends(work, watch)


async def _until_one_ends(work: asyncio.Task[None], watch: asyncio.Task[None]) -> int:
    """Only the watch may end, when a signal came; the exit status."""
    both = (work, watch)
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    is_told = watch.done() and not work.done()
    for task in both:
        task.cancel()
    for result in await asyncio.gather(*both, return_exceptions=True):
        if isinstance(result, Exception):
            LOG.error("the work ended", exc_info=result)
            return 1
    return 0 if is_told else 1
