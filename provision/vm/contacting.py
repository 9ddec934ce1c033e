"""First contact with a machine: its host key, and in plain words why it could not be reached."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import socket
import subprocess
from pathlib import Path

from provision.errors import TargetError
from provision.message import Message, say
from provision.vm.machine import ALIAS, Done, Machine, no_ssh

SCAN_SECONDS = 10
# The kinds of host keys that are taken down, the one to be shown first.
KEY_TYPES = ("ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512", "ssh-rsa")


def scan(address: str, port: int) -> tuple[str, ...]:
    """The host keys that answer there, as `type base64`, the best first; empty when none does."""
    command = ["ssh-keyscan", "-T", str(SCAN_SECONDS), "-p", str(port), address]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SCAN_SECONDS * 2,
            check=False,
        )
    except FileNotFoundError as error:
        raise no_ssh() from error
    except subprocess.TimeoutExpired:
        return ()
    keys = []
    for line in done.stdout.decode(errors="replace").splitlines():
        words = line.split()
        if len(words) >= 3 and not line.startswith("#"):
            keys.append(f"{words[1]} {words[2]}")
    known = {key: KEY_TYPES.index(key.split()[0]) for key in keys if key.split()[0] in KEY_TYPES}
    return tuple(sorted(known, key=lambda key: known[key]))


def fingerprint(key: str) -> str:
    """`SHA256:...` of a key, as ssh shows it; the key itself when it cannot be read."""
    try:
        blob = base64.b64decode(key.split()[1], validate=True)
    except (IndexError, binascii.Error):
        return key
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def shown(key: str) -> str:
    """A key for people: its fingerprint and its kind."""
    return f"{fingerprint(key)} ({key.split()[0].removeprefix('ssh-')})"


def known_keys(known_hosts: Path) -> tuple[str, ...]:
    """The keys that were taken down for the machine; empty when there are none."""
    try:
        lines = known_hosts.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(" ".join(w[1:3]) for line in lines if (w := line.split())[:1] == [ALIAS])


def known_hosts_text(keys: tuple[str, ...], comment: str = "") -> str:
    """The text of the machine's known_hosts: all keys under the one alias."""
    return "".join(f"{ALIAS} {key} {comment}".rstrip() + "\n" for key in keys)


def why_silent(address: str, port: int) -> Message:
    """Why no host key was heard there, in the system's words."""
    try:
        with socket.create_connection((address, port), timeout=SCAN_SECONDS / 2):
            return say("something answers, but it is no SSH server")
    except OSError as error:
        return say("{reason}", reason=error.strerror or error)


def is_key_refused(done: Done) -> bool:
    """Ssh ended because the host key is not the one that is known."""
    text = done.stderr.decode(errors="replace")
    return "Host key verification failed" in text or "IDENTIFICATION HAS CHANGED" in text


def is_login_refused(done: Done) -> bool:
    """The machine answers, and takes neither this login nor its key."""
    text = done.stderr.decode(errors="replace")
    signs = ("Permission denied", "Too many authentication failures")
    return not done.is_reached and any(sign in text for sign in signs)


def is_silent(done: Done) -> bool:
    """Nobody answers at the address, by what ssh says; anything else is no proof of that."""
    text = done.stderr.decode(errors="replace")
    signs = ("ssh: connect to host ", "Could not resolve hostname", "timed out")
    return not done.is_reached and any(sign in text for sign in signs)


def known_hosts_of(machine: Machine) -> Path:
    """The file with the host key that is held to."""
    return machine.ssh_config.parent / "known_hosts"


def key_of(machine: Machine) -> Path | None:
    """The private key that its ssh_config names; None when the person's own are tried."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for line in machine.ssh_config.read_text("utf-8").splitlines():
            if line.startswith("  IdentityFile "):
                return Path(line.removeprefix("  IdentityFile ").strip('"').replace("%%", "%"))
    return None


def why_shut(done: Done, machine: Machine) -> Message | None:
    """In a few words why a machine that answers lets us not in; None when it does not answer."""
    if is_key_refused(done):
        path = known_hosts_of(machine)
        if not known_keys(path):
            return say("its host key is not known here, make provision takes it down")
        return say("its host key differs from the known one, in {path}", path=path)
    if is_login_refused(done):
        return say("it refuses the login {user}", user=machine.user)
    return None


def why_not_in(done: Done, machine: Machine) -> TargetError:
    """The error for an ssh that ended with 255, whichever way it did not get in."""
    if is_key_refused(done):
        return (
            changed_key(machine) if known_keys(known_hosts_of(machine)) else _unknown_key(machine)
        )
    return why_refused(done, machine, key_of(machine))


def is_worth_waiting(done: Done) -> bool:
    """Nobody listens yet or the network is not there yet, as while a machine boots."""
    text = done.stderr.decode(errors="replace")
    signs = ("refused", "timed out", "No route", "reset by peer", "closed by", "Broken pipe")
    return not done.is_reached and any(sign in text for sign in signs)


def changed_key(machine: Machine, now: tuple[str, ...] = ()) -> TargetError:
    """The error for a host key that is not the known one, with both fingerprints.

    `now` are the keys that answer, where they have been asked for already.
    """
    known_hosts = known_hosts_of(machine)
    now = now or scan(machine.address, machine.port)
    then = known_keys(known_hosts)
    return TargetError(
        say(
            "{machine} answers with another host key than before: now {now}, before {then}. "
            "Either it was installed anew, or somebody answers in its place.",
            machine=machine.name,
            now=shown(now[0]) if now else "?",
            then=shown(then[0]) if then else "?",
        ),
        next_move=say(
            "Compare it on the machine: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub. "
            "If the new one is right, remove {path} and run make provision.",
            path=known_hosts,
        ),
    )


def _unknown_key(machine: Machine) -> TargetError:
    """The error for a machine whose known host key was taken away."""
    return TargetError(
        say("The host key of {machine} is not known here.", machine=machine.name),
        next_move=say("Run make provision: it shows the key and takes it down."),
    )


def unreachable(address: str, port: int, why: Message | str) -> TargetError:
    """The error for a machine of which nothing is heard."""
    return TargetError(
        say(
            "{address} does not answer on port {port}: {why}.", address=address, port=port, why=why
        ),
        next_move=say(
            "See that the machine is on, that sshd runs there and that no firewall is between; "
            "then run the same command again."
        ),
    )


def lets_nobody_in(machine: Machine, seconds: float) -> TargetError:
    """The error for a machine that took the call, and after that time still ran no command."""
    return TargetError(
        say(
            "{address} answers on port {port}, but lets nobody in within {seconds} s.",
            address=machine.address,
            port=machine.port,
            seconds=f"{seconds:g}",
        ),
        next_move=say("See on its console what keeps it busy, then run the same command again."),
    )


def why_refused(done: Done, machine: Machine, key: Path | None) -> TargetError:
    """The error for an ssh that ended with 255, by what it said last."""
    text = done.stderr.decode(errors="replace")
    reason = done.last_line.removeprefix("ssh: ").rstrip(".") or "?"
    if is_login_refused(done):
        return _denied(machine, key, text)
    if "Bad owner or permissions" in text or "Bad configuration" in text:
        return TargetError(
            say("ssh refuses {path}: {why}.", path=machine.ssh_config, why=reason),
            next_move=say("Run make provision, which writes it anew."),
        )
    return unreachable(machine.address, machine.port, reason)


def _denied(machine: Machine, key: Path | None, text: str) -> TargetError:
    if shape := _fault_of_key(text):
        return TargetError(
            say("The key {key} cannot be used: {why}.", key=key or "?", why=shape),
            next_move=say("Name a private key that only you may read in KEY (chmod 600)."),
        )
    used = say("with the key {key}", key=key) if key else say("with your own keys")
    return TargetError(
        say(
            "{machine} refuses the login {user} {used}.",
            machine=machine.name,
            user=machine.user,
            used=used,
        ),
        next_move=say(
            "Name the right login in HOST=user@host and its private key in KEY=file. "
            "A password is never asked for; a key with a passphrase goes into ssh-agent first."
        ),
    )


def _fault_of_key(text: str) -> str:
    """The line of ssh's that says what is wrong with a key; its banner of @ says nothing."""
    for sign in ("are too open", "Load key"):
        for line in text.splitlines():
            if sign in line and not line.startswith("@"):
                return line.strip().rstrip(".")
    return ""
