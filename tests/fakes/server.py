"""A component that is slow, exits, hangs or forks: server.py PORT [--slow S] [--exit CODE] ...

--slow S       answers 503 on /ready for S seconds, then 200
--exit CODE    writes two lines and exits with CODE, at once or after --slow
--deaf         never listens
--stubborn     ignores SIGTERM
--fork         leaves a child in the same process group that does nothing
"""

from __future__ import annotations

import argparse
import http.server
import os
import signal
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    ready_at = 0.0

    def do_GET(self) -> None:
        self.send_response(200 if time.monotonic() >= self.ready_at else 503)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--slow", type=float, default=0.0)
    parser.add_argument("--exit", type=int, default=None)
    for flag in ("--deaf", "--stubborn", "--fork"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--home", default="")
    options = parser.parse_args()
    sys.stdout.write("fake server begins\n")
    sys.stdout.flush()
    if options.exit is not None:
        time.sleep(options.slow)
        sys.stderr.write("cannot open the door: it is locked\n")
        sys.exit(options.exit)
    if options.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.fork and os.fork() == 0:
        time.sleep(600)
        os._exit(0)
    if options.deaf:
        time.sleep(600)
    Handler.ready_at = time.monotonic() + options.slow
    http.server.ThreadingHTTPServer.allow_reuse_address = True
    http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
