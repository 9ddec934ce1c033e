// The verdict of a step, with the same parts in the same order as `lab check` prints them.

import { byId, el, setText } from './dom.js';
import { clock, t } from './words.js';

const ROLES = { PASS: 'good', 'NOT YET': 'bad', 'CANNOT TELL': 'odd' };
const PARTS = ['looked_at', 'expected', 'found', 'next'];

/** A step's whole verdict as elements; `hint` is put behind the first failure. */
export function verdictParts(standing, { hint, foot }) {
  const isCreditOnly = isOnRecordOnly(standing);
  const parts = [head(standing)];
  if (standing.cause) parts.push(el('p', { text: standing.cause }));
  if (standing.solved && standing.verdict === 'PASS') parts.push(el('p', { text: t('solved_by_answers') }));
  if (isCreditOnly) {
    parts.push(el('p', { text: t('it_passed_with', { time: clock(standing.passed_at) }) }));
    parts.push(evidence(standing.evidence, { isOpen: true }));
  } else {
    const failed = standing.checks.find((check) => check.outcome === 'failed');
    parts.push(el('ul', { class: 'checks' },
      standing.checks.map((check) => checkRow(check, check === failed ? hint : null))));
    parts.push(...standing.remarks.map((remark) => el('p', { class: 'soft', text: remark })));
  }
  parts.push(el('p', {
    class: 'soft foot',
    text: [t('requests_seconds', { requests: standing.requests, seconds: standing.seconds.toFixed(1) }), foot]
      .filter(Boolean).join(' · '),
  }));
  return parts;
}

/** A later step has ended what this one shows: it passes by its record, not by what is there now. */
export function isOnRecordOnly({ verdict, true_now: trueNow, checks }) {
  return verdict === 'PASS' && trueNow === false && checks.some((check) => check.outcome !== 'passed');
}

/** One line that says how a step stands: PASS, or how many of its checks pass. */
export function summary(standing) {
  if (isOnRecordOnly(standing)) return t('passes_by_record', { verdict: standing.verdict });
  const passed = standing.checks.filter((check) => check.outcome === 'passed').length;
  return t('checks_pass', { verdict: standing.verdict, passed, count: standing.checks.length });
}

function head(standing) {
  return el('p', { class: 'verdict-head' },
    badge(ROLES[standing.verdict], standing.verdict),
    standing.graded_at ? el('span', { class: 'soft', text: t('graded_at', { time: clock(standing.graded_at) }) }) : null);
}

/** A word in a frame; its colour repeats what the word says. */
export function badge(role, text) {
  return el('span', { class: `badge ${role}`, text });
}

const OUTCOMES = {
  passed: ['good', 'outcome_passed'], failed: ['bad', 'outcome_failed'],
  skipped: ['quiet', 'outcome_skipped'], error: ['odd', 'outcome_error'],
};

/** The word for a check's outcome; a running one says so. */
export function outcomeBadge(outcome) {
  const [role, key] = OUTCOMES[outcome] ?? ['quiet', 'outcome_running'];
  return badge(role, t(key));
}

function checkRow(check, hint) {
  const told = [];
  if (check.finding) {
    told.push(el('dl', {}, PARTS.flatMap((part) => [
      el('dt', { text: t(part) }), el('dd', { text: check.finding[part] }),
    ])));
    if (hint) told.push(hint);
  }
  if (check.trouble && check.outcome !== 'passed') told.push(el('p', { text: check.trouble }));
  if (check.next && !check.finding) told.push(el('p', { text: check.next }));
  if (check.outcome === 'passed' && check.evidence.length) told.push(evidence(check.evidence, {}));
  return el('li', { class: check.outcome },
    outcomeBadge(check.outcome), el('div', { class: 'told' }, el('p', { text: check.title }), told));
}

function evidence(items, { isOpen = false }) {
  const first = items.find((item) => item.uid) ?? items[0];
  const name = first ? `${first.name.split('/').pop()}, ${clock(first.time)}` : '';
  return el('details', { class: 'evidence', open: isOpen },
    el('summary', { text: t('evidence_of', { name }) }),
    el('ul', {}, items.map((item) => el('li', {},
      el('span', { text: `${item.kind} ${item.name.split('/').pop()}  ${item.fact}  ${clock(item.time)}` }),
      item.uid ? el('span', { class: 'soft mono', text: `uid ${item.uid}, resourceVersion ${item.resource_version}` }) : null))));
}

/** The place of the verdict: shows a run as it goes, then what came of it. */
export function showRun(run, now) {
  const rows = run.checks.map((check) => el('li', { class: check.outcome ?? 'running' },
    outcomeBadge(check.outcome),
    el('div', { class: 'told' }, el('p', {}, check.title, check.outcome && check.seconds !== null
      ? el('span', { class: 'soft', text: `  ${t('seconds', { seconds: check.seconds.toFixed(1) })}` }) : null))));
  byId('verdict').replaceChildren(
    el('p', { class: 'verdict-head' }, badge('quiet', t('checking')),
      el('span', { class: 'soft seconds', text: runSeconds(run, now) })),
    el('ul', { class: 'checks' }, rows));
}

/** The seconds of a run, as its line shows them. */
export function runSeconds(run, now) {
  return t('seconds', { seconds: (((run.ended ?? now) - run.began) / 1000).toFixed(1) });
}

/** Says in one line, aloud for who cannot see it, how the open step stands. */
export function announce(text) {
  setText(byId('outcome'), text);
}
