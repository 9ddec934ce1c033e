"""The recorder: `python -m checks.recording --history FILE --kubeconfig FILE --port N ...`.

It only looks: one watch for each kind, as an account that cannot write to the cluster.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from checks.journal import Journal, read_life, stamp
from checks.kit.cluster import JOB, POD, Kind
from checks.kit.following import Follower
from checks.kit.stream import ApiStream
from checks.recording.health import serve_health
from checks.recording.keeper import Keeper

BEAT_SECONDS = 5.0
STACK_BYTES = 512 << 10


def kinds(kueue: str, more: Sequence[Kind] = ()) -> tuple[Kind, ...]:
    """What is recorded; `kueue` is the group and version of Kueue's kinds."""
    return (
        Kind("ResourceFlavor", "resourceflavors", kueue, is_namespaced=False),
        Kind("ClusterQueue", "clusterqueues", kueue, is_namespaced=False),
        Kind("LocalQueue", "localqueues", kueue),
        JOB,
        Kind("Workload", "workloads", kueue),
        POD,
        *more,
    )


def read_kind(text: str) -> Kind:
    """A kind written as KIND/plural/version, such as TrainJob/trainjobs/a.group/v1."""
    name, _, rest = text.partition("/")
    plural, _, version = rest.partition("/")
    if not (name and plural and version):
        raise argparse.ArgumentTypeError(f"{text} is not KIND/plural/version")
    return Kind(name, plural, version)


class Recorder:
    """All followers of one place, and the beat that tells that they see everything."""

    def __init__(self, options: argparse.Namespace) -> None:
        file: Path = options.history
        self._stop = threading.Event()
        contact = _last_beat(file)
        self._keeper = Keeper(Journal(file, read_life(file)))
        self._keeper.begin(contact)
        stream = ApiStream(options.kubeconfig)
        self._followers = [
            Follower(
                stream, self._keeper, kind, namespace, contact=contact, stop=self._stop, log=_say
            )
            for kind in kinds(options.kueue, options.record)
            for namespace in (options.namespace if kind.is_namespaced else [""])
        ]

    def run(self) -> None:
        """Record until the process is ended."""
        for follower in self._followers:
            follower.start()
        while not self._stop.wait(BEAT_SECONDS):
            if not self.missing():
                try:
                    self._keeper.beat()
                except OSError as error:
                    _say(f"the history cannot be written: {error}")

    def missing(self) -> str:
        """What is not seen right now; empty for nothing."""
        blind = [f for f in self._followers if not f.is_live]
        return "; ".join(f"{f.path}: {f.trouble}" for f in blind)


def main(arguments: Sequence[str]) -> int:
    """Run as a program; returns only when it cannot work at all."""
    parser = argparse.ArgumentParser(prog="python -m checks.recording")
    parser.add_argument("--history", type=Path, required=True, help="the file to write")
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True, help="loopback port of /readyz")
    parser.add_argument("--namespace", action="append", default=[], help="may be given many times")
    parser.add_argument("--kueue", default="kueue.x-k8s.io/v1beta2")
    parser.add_argument(
        "--record",
        type=read_kind,
        action="append",
        default=[],
        metavar="KIND/plural/version",
        help="one more kind in the namespaces; may be given many times",
    )
    options = parser.parse_args(arguments)
    os.umask(0o077)
    lock = os.open(options.history.with_name(".history.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("another recorder writes this history")
            return 1
        threading.stack_size(STACK_BYTES)
        recorder = Recorder(options)
        serve_health(options.port, recorder.missing)
        recorder.run()
    return 0


def _last_beat(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _say(text: str) -> None:
    sys.stdout.write(f"{stamp(time.time())} {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
