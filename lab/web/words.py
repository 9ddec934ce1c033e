"""The page's own sentences by the names that its scripts know them by.

Values stay as `{name}` in the text: the scripts put them in. A test compares the names with those
that the scripts and the template use.
"""

from __future__ import annotations

from collections.abc import Mapping

from lab.report.terminal import FINDING_PARTS, OUTCOME_WORDS
from lab.text import Speech
from provision.message import Message, say

_BAR = {
    "parts": say("parts of the page"),
    "view_guide": say("Steps"),
    "view_desk": say("Terminal"),
    "view_queue": say("Queue"),
    "language": say("Language"),
    "language_en": Message("English"),
    "language_ko": Message("한국어"),
    "linked": say("live"),
    "not_linked": say("no connection, trying again"),
    "log_in_again": say("This browser is not logged in any more. Open the link of lab open again."),
    "server_trouble": say("The page's server answers with an error ({status})."),
    "place_away": say("The place does not answer."),
    "passed_of": say("{passed} of {count} steps passed"),
    "divide_columns": say("width of the steps"),
    "divide_rows": say("height of the terminal"),
    "close": say("Close"),
}
_STEPS = {
    "steps": say("Steps"),
    "step_of": say("Step {number} of {count}"),
    "passed_at": say("passed at {time}"),
    "by_the_answers": say("solved by the answers"),
    "true_now": say("true now"),
    "not_true_now": say("not true now"),
    "ended_by_step": say("step {later} ended it, as meant"),
    "not_passed": say("not passed yet"),
    "not_tried": say("not checked yet"),
    "one_attempt": say("1 attempt"),
    "attempts": say("{count} attempts"),
    "one_hint": say("1 hint"),
    "hints_used": say("{count} hints"),
    "code": say("code"),
    "copy": say("Copy"),
    "copied": say("Copied"),
    "not_copied": say("The browser refused"),
    "type_it": say("Type"),
    "type_it_title": say("Types it into the terminal. You press Enter."),
    "type_command": say("Type into the terminal: {command}"),
    "lay_out": say("Lay out this step"),
    "laying_out": say("Laying it out"),
    "lay_out_why": say("This step finds something in the cluster. Lay it out before you begin."),
    "laid_out": say("Laid out: {objects}"),
    "labs": say("Labs"),
    "lab_here": say("this page"),
    "lab_open": say("Open its page"),
    "lab_command": say("In a terminal:"),
}
_VERDICT = {
    "verdict": say("Verdict"),
    "check_step": say("Check step {number}"),
    "checking_step": say("Checking step {number}"),
    "checking": say("Checking"),
    "next_step": say("Next step"),
    "not_checked": say("Nothing to show yet: check the step, here or in the terminal."),
    "graded_at": say("checked at {time}"),
    "checks_pass": say("{verdict}: {passed} of {count} checks pass"),
    "passes_by_record": say("{verdict}, by the record"),
    "all_done": say(
        "All steps have passed. make report tells what each verdict rests on, make history the "
        "lab's story."
    ),
    "solved_by_answers": say("Solved by the answers."),
    "it_passed_with": say("It passed at {time}, with:"),
    "requests_seconds": say("{requests} requests, {seconds} s"),
    "seconds": say("{seconds} s"),
    "evidence_of": say("evidence: {name}"),
    "outcome_running": say("runs"),
    **{f"outcome_{outcome}": word for outcome, word in OUTCOME_WORDS.items()},
    **{part.removesuffix("_move"): word for part, word in FINDING_PARTS},
}
_HINTS = {
    "hints": say("Hints"),
    "hints_after_a_check": say("A hint is about a check that failed: there is none to hint at."),
    "hints_for": say("For: {title}"),
    "hint_of": say("Hint {level} of {of}: {name}"),
    "show_hint": say("Show hint {level} of {of}"),
    "no_more_hints": say("These are all hints there are."),
    "to_hints": say("Show a hint"),
}
_DESK = {
    "terminal_1": say("Terminal 1"),
    "terminal_2": say("Terminal 2"),
    "files": say("Files"),
    "terminal_connecting": say("connecting"),
    "terminal_connected": say("connected"),
    "terminal_lost": say("connection lost, trying again"),
    "no_xterm": say("xterm.js could not be loaded"),
    "reader": say("Screen reader"),
    "file_view": say("the file, to look at"),
    "no_files": say("No files here yet. Make them in the terminal."),
    "empty_file": say("The file is empty."),
    "changed_at": say("changed at {time}"),
    "check_says": say("The check found:"),
}
_KEYS = {
    "keys_button": say("Keys"),
    "keys_title": say("Keys in the terminal"),
    "key_line": say(
        "Copy Ctrl+Shift+C, paste Ctrl+Shift+V, select Shift+drag, leave the terminal Ctrl+Shift+X"
    ),
    "key_copy": say("Copy"),
    "key_copy_how": say("select, then Ctrl+Shift+C (macOS: Cmd+C)"),
    "key_paste": say("Paste"),
    "key_paste_how": say("Ctrl+Shift+V or Shift+Insert (macOS: Cmd+V)"),
    "key_select": say("Select"),
    "key_select_how": say("Shift+drag (macOS: Option+drag)"),
    "key_scroll": say("Scroll back"),
    "key_scroll_how": say("Shift+PageUp or the mouse wheel; q ends it"),
    "key_leave": say("Leave the terminal"),
    "key_leave_how": say(
        "Ctrl+Shift+X, since Tab is the shell's; Tab and Shift+Tab go on from there"
    ),
    "key_divider": say("Move a divider"),
    "key_divider_how": say("drag it, or focus it and use the arrow keys; a double click resets it"),
}
_PICTURE = {
    "picture": say("Queue and GPUs"),
    "picture_live": say("live, last change {time}"),
    "picture_old": say("not live, as of {time}"),
    "as_table": say("As a table"),
    "moves": say("what moved"),
    "waiting_line": say("Waiting line"),
    "nobody_waits": say("Nobody waits."),
    "place_in_line": say("no. {position} in line"),
    "place_in_own_line": say("no. {position} of its LocalQueue"),
    "by_use": say("Between LocalQueues, use for the weight decides, not age."),
    "quota_of": say("Quota"),
    "active": say("Active"),
    "not_active": say("not Active"),
    "reserved_of": say("{reserved} of {nominal} reserved"),
    "over_nominal": say("{count} over the nominal quota"),
    "admitted": say("admitted"),
    "reserved": say("reserved, not admitted"),
    "free": say("free"),
    "priority_of": say("priority {priority}"),
    "no_queues": say("There is no ClusterQueue yet."),
    "no_nodes": say("No node yet."),
    "no_gpus": say("No GPU."),
    "gpus_of": say("GPUs of"),
    "gpu_number": say("GPU {number}"),
    "in_ledger": say("in the ledger"),
    "not_in_ledger": say("not in the ledger"),
    "in_no_queue": say("in no queue"),
    "on_no_node": say("no GPU yet"),
    "nothing": say("Nothing."),
}
_MOVES = {
    "moved_outside_line": say("joined the line"),
    "moved_quota_line": say("lost its quota, back in line"),
    "moved_outside_quota": say("got quota"),
    "moved_line_quota": say("left the line: got quota"),
    "moved_quota_gpu": say("took a GPU"),
    "moved_outside_gpu": say("took a GPU, past the ledger"),
    "moved_gpu_outside": say("left its GPU"),
    "moved_quota_outside": say("gave its quota back"),
    "moved_line_outside": say("left the line"),
}
_TABLES = {
    "table_workloads": say("Who holds quota, and who waits"),
    "table_gpus": say("GPUs and their pods"),
    "table_quota": say("Quota by resource"),
    "column_queue": Message("ClusterQueue"),
    "column_local_queue": Message("LocalQueue"),
    "column_place": say("where"),
    "column_job": Message("Job"),
    "column_workload": Message("Workload"),
    "column_priority": say("priority"),
    "column_amounts": say("amounts"),
    "column_reason": say("reason"),
    "column_gpus": Message("GPU"),
    "column_since": say("since"),
    "column_node": say("node"),
    "column_gpu": Message("GPU"),
    "column_pod": say("pod"),
    "column_phase": say("phase"),
    "column_ledger": say("ledger"),
    "column_state": say("state"),
    "column_resource": say("resource"),
    "column_nominal": say("nominal"),
    "column_reserved": say("reserved in total"),
}
WORDS: Mapping[str, Message] = {
    **_BAR,
    **_STEPS,
    **_VERDICT,
    **_HINTS,
    **_DESK,
    **_KEYS,
    **_PICTURE,
    **_MOVES,
    **_TABLES,
}


def words(speech: Speech) -> Mapping[str, str]:
    """All of them in one language, with `{name}` where the scripts put a value."""
    return {name: speech.of_template(message.template) for name, message in WORDS.items()}
