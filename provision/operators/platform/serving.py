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
        stop = asyncio.Event()
        work.add_done_callback(lambda _: stop.set())
        await kopf.operator(
            registry=make_registry(reconciler.notice),
            settings=settings,
            standalone=True,
            clusterwide=True,
            liveness_endpoint=f"http://127.0.0.1:{port}/readyz",
            stop_flag=stop,
        )
        if work.done():
            LOG.error("the work ended", exc_info=work.exception())
            return 1
        work.cancel()
    return 0
