"""How all steps stand, as the page tells it."""

from checks.outcome import Outcome
from lab.progress import HintUse, ProgressLog
from lab.text import Speech
from lab.verdicts import PAGE, TERMINAL, VerdictStore
from lab.web.hinting import NoHints, next_hint, shown_hints
from lab.web.markdown import to_html
from lab.web.state import mark_of_known, read_known, state_as_json, verdict_as_json
from tests.unit.lab.test_standing import result, standing

EN, KO = Speech("en"), Speech("ko")


def step_of(place, number, speech=EN):
    state = state_as_json(read_known(place), speech, has_tmux=True)
    return next(step for step in state["steps"] if step["number"] == number)


def test_nothing_is_known_at_first(place):
    state = state_as_json(read_known(place), EN, has_tmux=True)
    assert (state["open_step"], state["tmux"], state["remarks"]) == (1, True, [])
    assert len(state["steps"]) == 8
    assert step_of(place, 3) == {
        "number": 3,
        "passed_at": None,
        "solved": False,
        "true_now": None,
        "ended_by": None,
        "cause": None,
        "attempts": 0,
        "hints": 0,
        "verdict": None,
        "graded_at": None,
        "by": None,
    }
    assert verdict_as_json(read_known(place), place.lab.step(3), EN) is None


def test_without_tmux_the_page_says_what_is_lost(place):
    (english,) = state_as_json(read_known(place), EN, has_tmux=False)["remarks"]
    (korean,) = state_as_json(read_known(place), KO, has_tmux=False)["remarks"]
    assert english.startswith("tmux is not installed")
    assert korean.startswith("tmux가 설치되어 있지 않습니다")


def test_credit_attempts_hints_and_truth_stand_side_by_side(place):
    log, store = ProgressLog(place.progress_file), VerdictStore(place.verdicts)
    log.record(result(4, Outcome.FAILED), by_answer=False)
    log.record_hint(4, HintUse("one", "", 1))
    log.record(result(4, Outcome.PASSED), by_answer=False)
    store.put(standing(Outcome.PASSED), by=TERMINAL)
    step = step_of(place, 4)
    assert (step["attempts"], step["hints"], step["solved"]) == (2, 1, False)
    assert (step["verdict"], step["true_now"], step["by"]) == ("PASS", True, "terminal")
    assert step["passed_at"]
    assert read_known(place).open_step == 1
    told = verdict_as_json(read_known(place), place.lab.step(4), KO)
    assert told["standing"]["attempts"] == 2
    assert told["graded_at"] == step["graded_at"]
    assert told["standing"]["checks"][0]["outcome"] == "passed"


def test_a_later_step_that_ended_it_makes_it_untrue(place):
    store = VerdictStore(place.verdicts)
    store.put(standing(Outcome.PASSED), by=PAGE)
    assert step_of(place, 4)["true_now"] is True
    store.put(standing(Outcome.PASSED, step=8), by=PAGE)
    step = step_of(place, 4)
    assert (step["true_now"], step["cause"]) == (False, "Step 8 ended it, as it is meant to.")
    assert step["ended_by"] == 8
    assert step_of(place, 8)["true_now"] is True
    store.put(standing(Outcome.PASSED), by=PAGE)
    assert step_of(place, 4)["true_now"] is True


def test_a_change_of_any_file_is_seen_by_looking_at_it(place):
    marks = [mark_of_known(place)]
    ProgressLog(place.progress_file).record(result(1, Outcome.FAILED), by_answer=False)
    marks.append(mark_of_known(place))
    VerdictStore(place.verdicts).put(standing(Outcome.PASSED), by=PAGE)
    marks.append(mark_of_known(place))
    assert len(set(marks)) == 3


def refusal(place, number):
    try:
        shown_hints(place, place.lab.step(number), EN)
    except NoHints as none:
        return str(none.what)
    return ""


def test_hints_need_a_failure_on_record(place):
    assert refusal(place, 4).startswith("Hints are about what a check found")
    log = ProgressLog(place.progress_file)
    log.record(result(4, Outcome.FAILED), by_answer=False)
    assert refusal(place, 4) == "There are no hints for what failed in step 4."
    log.record(result(4, Outcome.PASSED), by_answer=False)
    assert refusal(place, 4) == "Step 4 passed when it was checked last."


def test_hints_come_one_by_one_and_each_is_on_record(place, monkeypatch):
    failed = result(2, Outcome.FAILED)
    check = failed.checks[0]
    object.__setattr__(check, "id", "queue_file")
    ProgressLog(place.progress_file).record(failed, by_answer=False)
    step = place.lab.step(2)
    assert shown_hints(place, step, EN)["hints"] == []
    seen = [next_hint(place, step, EN) for _ in range(6)]
    assert [told["used"] for told in seen] == [1, 2, 3, 4, 4, 4]
    assert [len(told["hints"]) for told in seen] == [1, 2, 3, 4, 4, 4]
    record = ProgressLog(place.progress_file).records()[2]
    assert [use.level for use in record.hints] == [1, 2, 3, 4]
    korean = shown_hints(place, step, KO)
    assert (korean["used"], korean["of"], korean["hints"][0]["name"]) == (4, 4, "볼 곳")
    assert korean["hints"][0]["html"].startswith("<p>")


def test_markdown_keeps_raw_html_as_text():
    html = to_html('<script>x</script> <img src=x onerror=y>\n\n<div onclick="x">a</div>\n')
    assert "<script" not in html
    assert "<img" not in html
    assert "<div" not in html
    assert "&lt;script&gt;" in html


def test_markdown_links_only_where_it_may():
    html = to_html("[a](javascript:alert(1)) [b](https://x.example/) ![c](https://x.example/p)")
    assert "javascript:" not in html.replace("[a](javascript:alert(1))", "")
    assert '<a href="https://x.example/">b</a>' in html
    assert "<img" not in html


def test_markdown_code_says_its_language_and_headings_begin_below_the_pages():
    html = to_html(
        "## Goal\n\n### More\n\n```sh\nkubectl get <x>\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    assert "<h3>Goal</h3>" in html
    assert "<h4>More</h4>" in html
    assert '<pre><code class="language-sh">kubectl get &lt;x&gt;\n</code></pre>' in html
    assert "<td>1</td>" in html
