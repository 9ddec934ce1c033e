"""Step 5: what the learner wrote down about who had to leave, and for whom."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_preempting import Yielding, once_more
from checks.judging.preemption import CONDITIONS, Preemption, Preemptor
from checks.judging.quoted import Quoted, quoted_conditions
from checks.judging.words import shares_enough
from checks.kit.expect import cut, mismatch, plain
from checks.kit.files import TextFile
from checks.kit.keyvalues import Value, read_key_values
from checks.kit.manifests import place
from checks.outcome import Mismatch
from provision.message import Message, say

_KINDS = ("Evicted", "Preempted")


def require_evicted_noted(file: TextFile, lab: Facts, found: Preemption) -> None:
    """The file tells both conditions with their reasons, and the message that both have.

    Where nobody saw a reason and Kueue no longer says it, any will do: the message is looked at.
    """
    told = [one for one in quoted_conditions(file.text) if one.type in _KINDS]
    if not told:
        told = _from_keys(file, lab)
    messages = []
    for kind, reason in zip(_KINDS, (found.evicted, found.preempted), strict=True):
        # A text may quote those of several Workloads: one that is right will do.
        mine = [one for one in told if one.type == kind]
        mine.sort(key=lambda one: (one.reason != reason, not _holds(one.message, found)))
        one = mine[0] if mine else None
        messages.append("" if one is None else one.message)
        wanted = reason or (one.reason if one else "")
        if one is None or not one.reason or one.reason.casefold() != wanted.casefold():
            raise mismatch(
                place(file),
                say("the reason of condition {kind}, as Kueue gave it", kind=kind),
                say("no condition {kind}", kind=kind) if one is None else _shown(one),
                _how_to_read(lab, found)
                if _is_past(found)
                else say("each condition has a reason of its own: read both on that Workload"),
            )
    told_message = " ".join(messages)
    if not _holds(told_message, found):
        raise mismatch(
            place(file),
            say("the message of that Workload, whole, with the uids in it"),
            _shown_message(told_message, found),
            _how_to_read(lab, found),
        )


def require_noted(file: TextFile, lab: Facts, found: Sequence[Yielding]) -> Yielding:
    """The one that the file tells of: it may be an earlier one. `found`: not empty, newest first.

    A Mismatch with what the last one says when it tells of none.
    """
    told = next((one for one in found if _tells(file, lab, one)), found[0])
    require_evicted_noted(file, lab, told.preemption)
    return told


def _tells(file: TextFile, lab: Facts, one: Yielding) -> bool:
    try:
        require_evicted_noted(file, lab, one.preemption)
    except Mismatch:
        return False
    return True


def require_preemptor_noted(file: TextFile, lab: Facts, found: Preemptor) -> None:
    """The file names the JobUID of the message and the Workload that it leads to."""
    keys = (lab.high_job.job_uid_key, lab.high_job.workload_key)
    values = read_key_values(file, keys)
    uid, name = (values[key] for key in keys)
    if uid.text.casefold() != found.owner_uid:
        raise _wrong_uid(file, keys[0], uid, found)
    if name.text.rpartition("/")[2] != found.name:
        raise mismatch(
            place(file, name.line),
            say("the Workload with that JobUID"),
            plain(f"{keys[1]}={name.text}")
            if name.text
            else say("{key}= and nothing", key=keys[1]),
            say("look it up by the label {label}", label=lab.job_uid_label),
        )


def _wrong_uid(file: TextFile, key: str, value: Value, found: Preemptor) -> Mismatch:
    shown: Message = plain(f"{key}={value.text}")
    if not value.text:
        shown = say("{key}= and nothing", key=key)
    elif value.text.casefold() == found.uid:
        shown = say("{value}, which is the UID of the Workload, not its JobUID", value=shown)
    expected = say("the JobUID that stands in the message of the preempted Workload")
    return mismatch(place(file, value.line), expected, shown, _READ)


def _from_keys(file: TextFile, lab: Facts) -> list[Quoted]:
    """Lines `key=value` in place of quoted conditions."""
    wanted = lab.high_job
    keys = (wanted.evicted_key, wanted.preempted_key, wanted.message_key)
    evicted, preempted, message = (read_key_values(file, keys)[key].text for key in keys)
    reasons = zip(_KINDS, (evicted, preempted), strict=True)
    return [Quoted(kind, "", reason, message) for kind, reason in reasons]


def _holds(told: str, found: Preemption) -> bool:
    """It is the message of this preemption, with the uids in it, and not that of another one."""
    uids = [word.strip("(),") for word in found.message.split() if word.count("-") == 4]
    return shares_enough(told, found.message) and all(uid in told for uid in uids)


def _shown_message(told: str, found: Preemption) -> Message:
    """What is off with a message: it is none, or one of another time."""
    other = _JOB_UID.search(told)
    if other is not None and other.group(1) not in found.message:
        return say(
            "its JobUID is {uid}, not that of the one which this Workload names: is it from an "
            "earlier run?",
            uid=other.group(1),
        )
    return plain(cut(told)) if told.strip() else say("no message")


def _is_past(found: Preemption) -> bool:
    """The Workload itself does not say it any more."""
    return found.source is not CONDITIONS


def _how_to_read(lab: Facts, found: Preemption) -> Message:
    """Where it can be read: on the Workload, or, when that has quota again, in its events."""
    if not _is_past(found):
        return _READ
    return say(
        "the Workload does not say it any more: its events tell the message, for about an hour; "
        "or have it happen once more: {move}",
        move=once_more(lab),
    )


def _shown(one: Quoted) -> Message:
    return (
        plain(f"{one.type}: {one.reason}")
        if one.reason
        else say("{key}= and nothing", key=one.type)
    )


_JOB_UID = re.compile(r"JobUID: ([\w-]+)")
_READ = say("read the conditions of the Workload that had to leave, and copy what they say")
