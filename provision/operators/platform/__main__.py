"""The controller: `python -m provision.operators.platform --kubeconfig FILE --port N`.

It ends with status 1 when it cannot go on, for a supervisor to start it again.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

# kopf imports them, where they are installed, only to know their classes: 15 MB of this process.
UNUSED = ("kubernetes", "kubernetes_asyncio", "pykube")


def main(arguments: Sequence[str]) -> int:
    """Run as a program until it is told to end."""
    parser = argparse.ArgumentParser(prog="python -m provision.operators.platform")
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True, help="loopback port of /readyz")
    options = parser.parse_args(arguments)
    logging.basicConfig(
        stream=sys.stdout, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s"
    )
    os.environ["KUBECONFIG"] = str(options.kubeconfig)
    sys.modules.update(dict.fromkeys(UNUSED))  # type: ignore[arg-type]
    from provision.operators.platform.serving import serve

    return asyncio.run(serve(options.port))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
