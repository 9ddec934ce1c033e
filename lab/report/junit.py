"""A report as JUnit XML: a suite for each step, a case for each check."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from checks.outcome import CheckResult, Outcome
from lab.report.gathering import Report
from lab.report.terminal import FINDING_PARTS
from lab.standing import Standing
from lab.text import Speech
from provision.message import say

# What XML 1.0 allows in a text; all else, such as most control characters, is left out.
_FOREIGN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEPT = (Outcome.PASSED, Outcome.SKIPPED)


def as_junit(report: Report, speech: Speech) -> str:
    """The XML text. What a later step is meant to have ended is skipped, not failed."""
    root = ElementTree.Element("testsuites", name=report.lab.slug)
    for standing in report.standings:
        root.append(_suite(report, standing, speech))
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    root.set("time", f"{sum(s.result.seconds for s in report.standings):.3f}")
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(report: Report, standing: Standing, speech: Speech) -> ElementTree.Element:
    step = standing.step
    suite = ElementTree.Element(
        "testsuite",
        name=_clean(f"{step.number}. {speech.pick(step.title)}"),
        id=str(step.number - 1),
        package=f"{report.lab.slug}.step_{step.number}",
        timestamp=report.made_at[:19],
        time=f"{standing.result.seconds:.3f}",
    )
    _add_properties(suite, report, standing)
    cases = [_case(report, standing, check, speech) for check in standing.result.checks]
    suite.extend(cases)
    suite.set("tests", str(len(cases)))
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(sum(case.find(tag) is not None for case in cases)))
    return suite


def _add_properties(suite: ElementTree.Element, report: Report, standing: Standing) -> None:
    record = standing.record
    facts = {
        "verdict": standing.verdict,
        "true_now": "" if standing.is_true_now is None else str(standing.is_true_now).lower(),
        "attempts": record.attempts,
        "hints": len(record.hints),
        "solved": str(record.is_solved).lower(),
        "passed_at": record.passed_at,
        "place": report.place_id,
        "lab_sha256": report.lab_hash,
        "checks_sha256": report.checks_hash,
        **({} if report.info is None else report.info.versions),
    }
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", name=name, value=_clean(str(value)))


def _case(
    report: Report, standing: Standing, check: CheckResult, speech: Speech
) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase",
        name=_clean(speech.of(check.title)),
        classname=f"{report.lab.slug}.step_{standing.step.number}.{check.id}",
        time="0",
    )
    if standing.is_credit_only and check.outcome not in _KEPT:
        cause = say("It was so before.") if standing.cause is None else standing.cause
        ElementTree.SubElement(case, "skipped", message=_clean(speech.of(cause)))
    elif check.outcome is Outcome.SKIPPED:
        why = "" if check.trouble is None else speech.of(check.trouble)
        ElementTree.SubElement(case, "skipped", message=_clean(why))
    elif check.outcome is Outcome.ERROR:
        told = [speech.of(m) for m in (check.trouble, check.next_move) if m is not None]
        trouble = ElementTree.SubElement(case, "error", message=_clean(told[0] if told else ""))
        trouble.text = _clean("\n".join(told))
    elif check.finding is not None:
        found = _clean(speech.of(check.finding.found))
        failure = ElementTree.SubElement(case, "failure", message=found, type="NOT YET")
        failure.text = _clean(
            "\n".join(
                f"{speech.of(label)}: {speech.of(getattr(check.finding, part))}"
                for part, label in FINDING_PARTS
            )
        )
    return case


def _clean(text: str) -> str:
    return _FOREIGN.sub("", text)
