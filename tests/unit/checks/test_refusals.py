"""Every kind of broken learner file is refused with line and cause; other spellings pass."""

import json

import pytest
import yaml

from checks.kit.host import LARGEST
from tests.unit.checks.readers import KUEUE, MANIFESTS, RIGHT, judge, told

FLAVOR, QUEUE = RIGHT["flavor.yaml"], RIGHT["cq.yaml"]
LIVE = {
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "generation": 1,
    "resourceVersion": "77",
    "uid": "1-2-3",
    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}\n"},
}


@pytest.mark.parametrize("name", RIGHT)
def test_the_plain_answer_passes(name):
    assert judge(name, RIGHT[name].encode()) is None


def as_list(text):
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [yaml.safe_load(text)]})


def as_live(text):
    found = yaml.safe_load(text)
    found["metadata"] |= LIVE
    return yaml.safe_dump({**found, "status": {"conditions": []}})


SPELLINGS = {
    "json": lambda text: json.dumps(yaml.safe_load(text), indent="\t"),
    "json-on-one-line": lambda text: json.dumps(yaml.safe_load(text)),
    "flow": lambda text: yaml.safe_dump(yaml.safe_load(text), default_flow_style=True),
    "list": as_list,
    "json-list": lambda text: json.dumps(yaml.safe_load(as_list(text))),
    "kubectl-get-o-yaml": as_live,
    "kubectl-get-list-o-yaml": lambda text: as_list(as_live(text)),
    "second-document": lambda text: "kind: Namespace\nmetadata: {name: team-a}\n---\n" + text,
    "last-of-three": lambda text: "---\n# nothing\n---\n---\n" + text + "...\n",
    "mark-and-carriage-returns": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "old-line-ends": lambda text: text.replace("\n", "\r"),
    "no-line-end": str.rstrip,
    "comments": lambda text: "# “말” \u00a0\n" + text.replace("\n", "  # ok\n"),
    "anchors": lambda text: text.replace(
        "metadata:", "metadata:\n  annotations: {one: &a x, two: *a}", 1
    ),
}


@pytest.mark.parametrize("name", MANIFESTS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_other_spellings_pass(name, spelling):
    text = SPELLINGS[spelling](RIGHT[name])
    refused = judge(name, text.encode())
    assert refused is None, told(refused)


ELSEWHERE = "\n---\n" + RIGHT["lq.yaml"].replace("namespace: team-a", "namespace: default")


@pytest.mark.parametrize(
    "text", [RIGHT["lq.yaml"] + ELSEWHERE, ELSEWHERE + "---\n" + RIGHT["lq.yaml"]]
)
def test_the_document_of_the_right_namespace_counts(text):
    assert judge("lq.yaml", text.encode()) is None
    refused = judge("lq.yaml", ELSEWHERE.encode())
    assert refused is not None
    assert "metadata.namespace" in told(refused)


# The file, what it says instead, the line that must be named (0: none), and the cause.
REFUSED = [
    ("flavor.yaml", (FLAVOR, FLAVOR.replace("  name", "\tname")), 4, "tab"),
    ("flavor.yaml", ("    nvidia", "\tnvidia"), 7, "tab"),
    ("flavor.yaml", ("spec:\n", "kind: ResourceFlavor\nspec:\n"), 5, "kind stands twice"),
    ("flavor.yaml", ("kind:", "Kind:"), 1, "no field kind, but apiVersion, Kind"),
    ("flavor.yaml", ("metadata:", "metadata:\n  lables: {}"), 4, "metadata.lables"),
    ("cq.yaml", ("spec:", "Spec:"), 5, "Spec: no object has such a field"),
    ("cq.yaml", ("{}", "{{}}"), 6, "{}"),
    ("cq.yaml", ("{}", "{{ selector }}"), 6, "{}"),
    ("flavor.yaml", ('"true"', "“true”"), 7, "U+201C"),
    ("flavor.yaml", ('"true"', "‘true’"), 7, "U+2018"),
    ("flavor.yaml", ("name: fake", "name： fake"), 4, "U+FF1A"),
    ("flavor.yaml", ("name: fake", "name:\u00a0fake"), 4, "U+00A0"),
    ("flavor.yaml", ("  name: fake", "\u00a0\u00a0name: fake"), 4, "U+00A0"),
    ("flavor.yaml", ("  name: fake", "\u3000name: fake"), 4, "U+3000"),
    ("flavor.yaml", ("fake-gpu", "fake\u2013gpu"), 4, "U+2013"),
    ("flavor.yaml", ("fake-gpu", "fake-gpu\u200b"), 4, "U+200B"),
    ("flavor.yaml", ("fake-gpu", "${NAME}"), 4, "${NAME}"),
    ("flavor.yaml", ('"true"', "true"), 7, "true"),
    ("flavor.yaml", ('"true"', "yes"), 7, "true"),
    ("flavor.yaml", ('"true"', "1"), 7, "1"),
    ("cq.yaml", ("nominalQuota: 2\n      - name: mem", "nominalQuota: 1.5\n      - name: mem"),
     13, "1.5"),
    ("cq.yaml", ('"2Gi"', ".nan"), 15, ".nan"),
    ("cq.yaml", ('"2Gi"', ".inf"), 15, ".inf"),
    ("cq.yaml", ('"2Gi"', "2gi"), 15, "2Gi"),
    ("cq.yaml", ('"2Gi"', "2 Gi"), 15, "2 Gi"),
    ("cq.yaml", ('"2Gi"', "2GB"), 15, "GB"),
    ("cq.yaml", ('"2Gi"', "true"), 15, "true"),
    ("cq.yaml", ('"2Gi"', "null"), 15, "null"),
    ("cq.yaml", ('"2Gi"', "[2Gi]"), 15, "2Gi"),
    ("cq.yaml", ("kind: ClusterQueue", "kind: [ClusterQueue"), 0, "not YAML"),
    ("cq.yaml", ("  resourceGroups", " resourceGroups"), 0, "not YAML"),
    ("job-1.yaml", ("nvidia.com/gpu: 1", "nvidia.com/gpu: 1.5"), 17, "1.5"),
    ("job-1.yaml", ('"lq"', "on"), 7, "true"),
    ("lq.yaml", ('"team-a"', "*team"), 7, "team"),
    ("lq.yaml", ('"team-a"', "!!python/name:os.system"), 7, "python"),
    ("usage.json", ("2,", "NaN,"), 2, "NaN"),
    ("usage.json", ("2,", "Infinity,"), 2, "Infinity"),
    ("usage.json", ("2,", "1e999,"), 0, "too large"),
    ("usage.json", ("2,", "true,"), 0, "true"),
    ("usage.json", ("2,", "null,"), 0, "null"),
    ("usage.json", ("2,", '"two",'), 0, "two"),
    ("usage.json", ("2,", "2"), 3, "JSON"),
    ("usage.json", ("2,", '"\u0662",'), 0, "a number"),
    ("usage.json", ("pending", "pending\\ud800"), 0, '"pending\\ud800"'),
    ("usage.json", ('"pending": 1,', '"pending": 1, "pending": 0,'), 0, "pending stands twice"),
    ("usage.json", ('"admitted"', "“admitted”"), 2, "U+201C"),
    ("bypass.txt", ("suspended=", "suspended："), 1, "U+FF1A"),
    ("bypass.txt", ("none\n", "none\nworkload=some\n"), 3, "workload="),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "line", "cause"), REFUSED)
def test_a_refusal_names_line_and_cause(name, change, line, cause):
    assert change[0] in RIGHT[name]
    refused = judge(name, RIGHT[name].replace(*change, 1).encode())
    assert refused is not None
    text = told(refused)
    assert name in text
    assert cause in text, text
    assert not line or f"line {line}" in text, text


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "empty"),
        (b"\n \r\n\t\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"a\0b", "NUL"),
        (b"\x7fELF\x01\x02\x00\x00", "NUL"),
        (b"kind: A\n\xff\xfe\xfd", "line 2"),
        ("kind: A".encode("utf-16"), "UTF-16"),
        (b"#" * (LARGEST + 1), str(LARGEST)),
    ],
    ids=["nothing", "blank", "mark", "nul", "binary", "latin-1", "utf-16", "large"],
)
def test_bytes_that_are_no_text(name, content, cause):
    refused = judge(name, content)
    assert refused is not None
    assert name in told(refused)
    assert cause in told(refused)


@pytest.mark.parametrize(
    "text",
    [
        MESSAGE_ONLY := RIGHT["waiting.txt"].split(": ", 1)[1],
        "waitingforquota",
        "  Reason:   WaitingForQuota  ",
        f"train-3가 기다리는 이유는 {MESSAGE_ONLY.strip()} 입니다.",
    ],
)
def test_the_reason_as_people_write_it(text):
    assert judge("waiting.txt", text.encode()) is None


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("waiting.txt", "Quota reserved in ClusterQueue team-a", "Quota reserved"),
        ("waiting.txt", "GPU가 모자라서", "GPU"),
        ("waiting.txt", "ExceedsMaxQuota", "ExceedsMaxQuota"),
        ("bypass.txt", "suspended=true\nworkload=none\n", "suspended=true"),
        ("bypass.txt", "suspended=false\nworkload=job-sneaky-12345\n", "job-sneaky"),
        ("bypass.txt", "workload=none\n", "suspended="),
        ("usage.json", '{"admitted": 3, "pending": 1, "gpu_reserved": 2}', "admitted 3"),
        ("usage.json", '{"admitted": 2, "pending": 0, "gpu_reserved": 2}', "pending 0"),
        ("usage.json", '[{"admitted": 2}]', "object"),
        ("usage.json", KUEUE, "JSON"),
    ],
)
def test_what_the_live_objects_do_not_say(name, text, word):
    refused = judge(name, text.encode())
    assert refused is not None
    assert word in told(refused)
