"""Reports about a whole lab: one set of data in four forms, none of which trusts its texts."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from checks.outcome import CheckResult, Evidence, Finding, Outcome, StepResult, StepVerdict
from lab.catalog import load_lab
from lab.progress import HintUse, StepRecord
from lab.report.as_json import as_json
from lab.report.gathering import Report, digest
from lab.report.junit import as_junit
from lab.report.page import as_page
from lab.report.standing_json import as_json as check_as_json
from lab.report.terminal import TextReport
from lab.report.text import as_text
from lab.report.words import summary, true_now
from lab.standing import Standing
from lab.text import DATED, LANGUAGES, Speech, clock, width
from provision.message import say
from provision.target import TargetInfo
from tests.schemas import FOLDER, load, validate
from tests.unit.lab.test_cli import lab as run_lab

LAB = load_lab("kueue_quota")
HOSTILE = "<script>alert(1)</script> & \"'><img src=x onerror=y> {{ 7*7 }} \x00\x1b[31m\ufffe 한글"
PROOF = Evidence(
    kind="Workload",
    name="job-train-1-a3b55",
    namespace="team-a",
    uid="u-1",
    resource_version="17",
    fact="Admitted=True",
    time="2026-01-02T10:41:07Z",
)


def check(outcome, **more):
    return CheckResult(id="one", title=say("{text}", text=HOSTILE), outcome=outcome, **more)


def standing(number, verdict, *checks, is_true=True, cause=None, **record):
    result = StepResult(number, checks, 3, 0.5, (say("{text}", text=HOSTILE),))
    return Standing(LAB.step(number), verdict, is_true, cause, result, StepRecord(**record))


PASSED = {"attempts": 2, "passed_at": "2026-01-02T10:41:08+00:00", "evidence": (PROOF,)}
FINDING = Finding(*(say("{text}", text=f"{part} {HOSTILE}") for part in "abcd"))
WAITS = check(Outcome.SKIPPED, trouble=say("waiting for: {title}", title="x"))
ENDED = say("Step {later} ended it, as it is meant to.", later=8)
PASS, NOT_YET, CANNOT = StepVerdict.PASS, StepVerdict.NOT_YET, StepVerdict.CANNOT_TELL
FAILED = check(Outcome.FAILED, finding=FINDING)
STANDINGS = (
    standing(1, PASS, check(Outcome.PASSED, evidence=(PROOF,)), **PASSED, is_solved=True),
    standing(2, NOT_YET, FAILED, WAITS, is_true=False, attempts=3, hints=(HintUse("one", "", 1),)),
    standing(
        3,
        CANNOT,
        check(Outcome.ERROR, trouble=say("{text}", text=HOSTILE), next_move=say("make status")),
        is_true=None,
    ),
    standing(4, PASS, FAILED, WAITS, is_true=False, cause=ENDED, **PASSED),
)
INFO = TargetInfo(
    "local", "kueue_quota", *([FOLDER] * 3), "local://", {"kueue": "v0.19.2"}, say("{t}", t=HOSTILE)
)
REPORT = Report(LAB, STANDINGS, INFO, "abc123", "2026-01-02T10:45:00+09:00", "a" * 64, "b" * 64)


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.json")))
def test_schemas_are_schemas(name):
    Draft202012Validator.check_schema(load(name))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("report", [REPORT, replace(REPORT, info=None, place_id="")])
def test_json_is_as_its_schema_says(report, language):
    speech = Speech(language)
    data = json.loads(json.dumps(as_json(report, speech)))
    validate("report", data)
    assert (data["passed"], data["solved"], data["attempts"], data["hints"]) == (2, 1, 7, 1)
    assert data["verdict"] == "CANNOT TELL"
    assert data["hashes"] == {"lab": "a" * 64, "checks": "b" * 64}
    validate("check", json.loads(json.dumps(check_as_json(LAB, STANDINGS, report.info, speech))))


@pytest.mark.parametrize("language", LANGUAGES)
def test_passes_on_record_count_while_the_place_is_down(language):
    """8 of 8 passed is not 0 of 8 because nothing can be judged now; and it is said."""
    speech = Speech(language)
    error = check(Outcome.ERROR, trouble=say("the place is down"))
    cause = say("It passed at {time}; whether it is true now cannot be told.", time="x")
    down = [standing(n, CANNOT, error, is_true=None, cause=cause, **PASSED) for n in (1, 2, 4)]
    report = replace(REPORT, standings=(*down, standing(3, CANNOT, error, is_true=None)))
    data = json.loads(json.dumps(as_json(report, speech)))
    validate("report", data)
    assert (data["passed"], data["verdict"]) == (3, "CANNOT TELL")
    assert [step["true_now"] for step in data["steps"]] == [None] * 4
    for text in (
        Page(as_page(report, speech)).text,
        as_text(report, speech, TextReport(speech, columns=100), columns=100),
    ):
        assert speech.of(summary(report)) in " ".join(text.split())
        assert speech.of(cause) in text
        assert text.count(speech.of(say("not known"))) >= 4


def test_a_pass_on_record_counts_when_it_is_not_true_now():
    """As everywhere else; and how many are true now is said beside it."""
    gone = standing(2, NOT_YET, FAILED, is_true=False, **PASSED)
    report = replace(REPORT, standings=(STANDINGS[0], gone))
    text = Speech("en").of(summary(report))
    assert text.startswith("2 of 2 steps passed, 1 of them by the answers; true now: 1;")
    assert report.passed == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_evidence_stands_beside_the_time_of_its_own_pass(language):
    """The first pass is the credit, the evidence kept is of the last one; both are dated."""
    speech = Speech(language)
    record = {**PASSED, "evidence_at": "2026-01-02T12:00:09+00:00"}
    twice = standing(4, PASS, FAILED, is_true=False, cause=ENDED, **record)
    text = TextReport(speech, columns=100).step(LAB, twice)
    head = next(line for line in text.splitlines() if clock(record["passed_at"]) in line)
    assert clock(record["evidence_at"]) in head
    page = Page(as_page(replace(REPORT, standings=(twice,)), speech)).text
    last = say("evidence of the pass at {time}", time=clock(record["evidence_at"], DATED))
    assert speech.of(last) in page
    once = replace(twice, record=replace(twice.record, evidence_at=record["passed_at"]))
    assert clock(record["evidence_at"]) not in TextReport(speech, columns=100).step(LAB, once)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_true_now_names_the_step_that_ended_it(language):
    speech = Speech(language)
    ended = replace(STANDINGS[3], ended_by=8)
    wanted = speech.of(say("no, step {later} ended it", later=8))
    assert Page(as_page(replace(REPORT, standings=(ended,)), speech)).text.count(wanted) == 2
    never = standing(2, NOT_YET, FAILED, is_true=False)
    assert speech.of(true_now(never)) == speech.of(say("no"))


def test_a_pass_that_is_not_on_record_says_how_to_put_it_there():
    fresh = replace(REPORT, standings=(standing(3, PASS, check(Outcome.PASSED)),))
    text = as_text(fresh, Speech("en"), TextReport(Speech("en"), columns=100), columns=100)
    assert "not on record yet: make check STEP=3" in text


def test_a_schema_refuses_what_it_does_not_know():
    data = json.loads(json.dumps(as_json(REPORT, Speech("en"))))
    data["steps"][0]["verdict"] = "MAYBE"
    data["surprise"] = 1
    with pytest.raises(AssertionError) as error:
        validate("report", data)
    assert "MAYBE" in str(error.value)
    assert "surprise" in str(error.value)


@pytest.mark.parametrize("language", LANGUAGES)
def test_junit_is_xml_with_true_counts(language):
    root = ElementTree.fromstring(as_junit(REPORT, Speech(language)))
    assert root.tag == "testsuites"
    assert [suite.get("id") for suite in root] == ["0", "1", "2", "3"]
    counts = [[s.get(c) for c in ("tests", "failures", "errors", "skipped")] for s in root]
    # Step 4 was passed and ended by step 8: what fails now is no failure there.
    assert counts == [list("1000"), list("2101"), list("1010"), list("2002")]
    assert [root.get(c) for c in ("tests", "failures", "errors", "skipped")] == list("6113")
    for suite in root:
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(name)) == len(suite.findall(f"testcase/{tag}"))
    failure = root.find(".//failure")
    assert "<script>alert(1)</script>" in failure.text
    assert "한글" in failure.text
    assert "\x00" not in failure.text
    properties = {p.get("name"): p.get("value") for p in root[0].iter("property")}
    assert (properties["verdict"], properties["kueue"]) == ("PASS", "v0.19.2")
    assert (properties["place"], properties["solved"]) == ("abc123", "true")


class Page(HTMLParser):
    """Tags, attributes and visible text of a page; tags must be closed in order."""

    VOID = ("meta", "br", "hr", "img", "input", "link")

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("language", LANGUAGES)
def test_page_is_one_file_without_scripts_and_escapes_everything(language):
    text = as_page(REPORT, Speech(language))
    page = Page(text)
    assert set(page.tags).isdisjoint({"script", "img", "link", "iframe", "object", "form", "base"})
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("src", "srcset", "style", "action"), (tag, name)
        if name == "href":
            assert value.startswith("#step-"), value
    assert not re.search(r"url\(|@import|https?:", text)
    assert ("html", "lang", language) in page.attributes
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert "@media print" in text
    assert ("한" in page.text.replace("한글", "")) == (language == "ko")


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_forms_show_the_same_facts(language):
    speech = Speech(language)
    page = Page(as_page(REPORT, speech)).text
    text = as_text(REPORT, speech, TextReport(speech, columns=100), columns=100)
    for fact in ("abc123", "a" * 64, "b" * 64, "v0.19.2", "2026-01-0", "Admitted=True", "one 1"):
        assert fact in page, fact
        assert fact in text, fact
    for number in range(1, 5):
        title = LAB.step(number).title[language]
        assert title in page
        assert title in text
    for verdict, count in (("PASS", 2), ("NOT YET", 1), ("CANNOT TELL", 1)):
        assert text.count(verdict) == count
        assert page.count(verdict) == 2 * count
    assert speech.of(ENDED) in page


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("columns", [60, 80, 100])
def test_text_keeps_to_its_columns(language, columns):
    speech = Speech(language)
    plain = replace(REPORT, standings=tuple(s for s in STANDINGS if s.step.number in (1, 4)))
    text = as_text(plain, speech, TextReport(speech, columns=columns), columns=columns)
    long = [line for line in text.replace(HOSTILE, "x").splitlines() if width(line) > columns]
    assert not long


def test_a_hash_is_of_names_and_bytes(tmp_path):
    (tmp_path / "a.py").write_text("x")
    first = digest(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("y")
    assert digest(tmp_path) == first
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    second = digest(tmp_path)
    (tmp_path / "b.py").write_text("z")
    assert len({first, second, digest(tmp_path)}) == 3


def test_without_a_place_the_report_says_so_and_records_nothing(tmp_path):
    out = tmp_path / "report.html"
    done = run_lab(tmp_path, "report", "--format", "html", "--out", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert str(out) in done.stdout
    assert Page(out.read_text(encoding="utf-8")).text.count("CANNOT TELL") == 16
    done = run_lab(tmp_path, "report", "--json")
    assert done.returncode == 0
    validate("report", json.loads(done.stdout))
    assert not list(tmp_path.rglob("progress.jsonl"))


def test_json_of_commands_without_a_place_is_as_the_schemas_say(tmp_path):
    validate("check", json.loads(run_lab(tmp_path, "check", "1", "--json").stdout))
    validate("status", json.loads(run_lab(tmp_path, "status", "--json").stdout))


@pytest.mark.parametrize("form", ["pdf", "", "HTML\n"])
def test_a_form_that_there_is_not(tmp_path, form):
    done = run_lab(tmp_path, "report", "--format", form)
    assert (done.returncode, done.stdout) == (2, "")
    assert "text, json, junit, html" in done.stderr


@pytest.mark.parametrize("name", ["", "no/such/folder.txt"])
def test_a_file_that_cannot_be_written(tmp_path, name):
    done = run_lab(tmp_path, "report", "--out", str(tmp_path / name))
    assert done.returncode == 3
    assert "--out" in done.stderr
    assert "Traceback" not in done.stderr
