import assert from 'node:assert/strict';
import test from 'node:test';

import { isLeaving } from '../../lab/web/static/keys.js';
import { nameToShow } from '../../lab/web/static/files.js';
import { shareAfterKey, within } from '../../lab/web/static/layout.js';
import { advance, begin, isGoing } from '../../lab/web/static/run.js';
import { passedCount, standingOf } from '../../lab/web/static/standing.js';
import { summary } from '../../lab/web/static/verdict.js';
import { clock, moment, setWords, t } from '../../lab/web/static/words.js';

const words = { moment: (time) => time };
const keys = (step) => standingOf(step, words).facts.map(([key]) => key);

test('a step says in words and by its shape how it stands', () => {
  assert.equal(standingOf({}, words).kind, 'fresh');
  assert.deepEqual(keys({}), ['not_tried']);
  assert.deepEqual(keys({ attempts: 1, hints: 2 }), ['not_passed', 'one_attempt', 'hints_used']);
  const passed = { passed_at: '10:41', true_now: true, attempts: 3, solved: true };
  assert.deepEqual(keys(passed), ['passed_at', 'true_now', 'by_the_answers', 'attempts']);
  assert.equal(standingOf(passed, words).kind, 'passed');
  assert.equal(standingOf({ ...passed, true_now: false }, words).kind, 'ended');
  assert.ok(keys({ ...passed, true_now: false }).includes('not_true_now'));
  assert.ok(keys({ ...passed, true_now: false, ended_by: 8 }).includes('ended_by_step'));
  assert.ok(!keys({ ...passed, true_now: false, ended_by: 8 }).includes('not_true_now'));
  assert.equal(standingOf({ attempts: 2, true_now: false }, words).kind, 'tried');
  assert.equal(passedCount([passed, {}, passed]), 2);
});

test('a run is followed from its start to its end', () => {
  let run = begin(1, 0);
  run = advance(run, { run: 'a', step: 1, phase: 'started' }, 10);
  run = advance(run, { run: 'a', step: 1, phase: 'check', title: 'x', outcome: null, seconds: null }, 20);
  assert.deepEqual(run.checks.map((check) => check.outcome), [null]);
  run = advance(run, { run: 'a', step: 1, phase: 'check', title: 'x', outcome: 'passed', seconds: 0.2 }, 30);
  run = advance(run, { run: 'a', step: 1, phase: 'check', title: 'y', outcome: 'failed', seconds: 0.1 }, 40);
  assert.deepEqual(run.checks.map(({ title, outcome }) => [title, outcome]), [['x', 'passed'], ['y', 'failed']]);
  assert.equal(isGoing(run), true);
  run = advance(run, { run: 'a', step: 1, phase: 'ended', error: null }, 50);
  assert.equal(isGoing(run), false);
  assert.equal(run.began, 0);
});

test('a run that a new stream tells from its start is not shown twice', () => {
  const told = [
    { run: 'a', step: 1, phase: 'started' },
    { run: 'a', step: 1, phase: 'check', title: 'x', outcome: 'passed', seconds: 0.2 },
    { run: 'a', step: 1, phase: 'check', title: 'y', outcome: null, seconds: null },
  ];
  const run = [...told, ...told].reduce((known, event, at) => advance(known, event, at), begin(1, 0));
  assert.deepEqual(run.checks.map(({ title }) => title), ['x', 'y']);
  assert.equal(run.began, 0);
});

test('the run of another window replaces one that has ended', () => {
  const ended = advance(begin(1, 0), { run: 'a', step: 1, phase: 'ended', error: 'gone' }, 5);
  assert.equal(ended.error, 'gone');
  const other = advance(ended, { run: 'b', step: 2, phase: 'started' }, 9);
  assert.deepEqual([other.id, other.step, other.error, other.checks], ['b', 2, null, []]);
});

test('a call without an answer says so in the words of the page', async () => {
  Object.assign(globalThis, {
    document: { body: { dataset: { base: '/', xsrf: '' } } },
    location: { href: 'http://127.0.0.1/learn' },
    fetch: () => Promise.reject(new TypeError('Failed to fetch')),
  });
  const { get } = await import('../../lab/web/static/api.js');
  setWords({});
  await assert.rejects(get('lab'), { message: 'Failed to fetch', status: 0 });
  setWords({ not_linked: 'no connection' });
  await assert.rejects(get('lab'), { message: 'no connection', status: 0 });
});

test('hints that were refused say why, though the answer holds no words of ours', async () => {
  const box = { replaceChildren: (...shown) => { box.said = shown.map((one) => one.textContent).join(); } };
  Object.assign(globalThis, {
    document: {
      body: { dataset: { base: '/', xsrf: '' } },
      getElementById: () => box,
      createElement: () => ({ setAttribute: () => {}, append: () => {} }),
    },
    location: { href: 'http://127.0.0.1/learn' },
  });
  const { Hints } = await import('../../lab/web/static/hints.js');
  setWords({ log_in_again: 'log in', server_trouble: 'trouble {status}' });
  const said = async (answer) => {
    globalThis.fetch = () => Promise.resolve(answer);
    await new Hints({ dress: () => {} }).open(1, true);
    return box.said;
  };
  const text = async () => '<h1>Bad Gateway</h1>';
  assert.equal(await said({ type: 'opaqueredirect' }), 'log in');
  assert.equal(await said({ ok: false, status: 502, text }), 'trouble 502');
  const ours = async () => '{"error": "No place.", "next": "make provision"}';
  assert.equal(await said({ ok: false, status: 409, text: ours }), 'No place. make provision');
});

test('keys move a divider within its limits', () => {
  const limits = { low: 20, high: 75 };
  assert.equal(shareAfterKey('ArrowRight', 38, limits), 40);
  assert.equal(shareAfterKey('ArrowUp', 21, limits), 20);
  assert.equal(shareAfterKey('End', 38, limits), 75);
  assert.equal(shareAfterKey('Enter', 38, limits), null);
  assert.equal(within(99, limits), 75);
});

test('one chord leaves the terminal, and no other key does', () => {
  const press = (more) => ({ type: 'keydown', code: 'KeyX', ctrlKey: true, shiftKey: true, altKey: false, metaKey: false, ...more });
  assert.equal(isLeaving(press({})), true);
  for (const other of [{ shiftKey: false }, { ctrlKey: false }, { altKey: true }, { code: 'Tab' }, { type: 'keyup' }]) {
    assert.equal(isLeaving(press(other)), false, JSON.stringify(other));
  }
});

test('sentences take their values, and a value is never read as a template', () => {
  setWords({ of: '{passed} of {count}', plain: 'x {unknown}' });
  assert.equal(t('of', { passed: '{count}', count: 8 }), '{count} of 8');
  assert.equal(t('plain'), 'x {unknown}');
  assert.equal(t('toString'), 'toString');
});

test('times are of the reader, and a day is named when it is another one', () => {
  assert.match(clock('2026-11-30T09:00:05Z'), /^\d\d:\d\d:05$/);
  assert.equal(clock('soon'), 'soon');
  const now = new Date('2026-11-30T12:00:00');
  assert.equal(moment('2026-11-30T09:05:00', now), '09:05');
  assert.equal(moment('2026-11-29T09:05:00', now), '2026-11-29 09:05');
});

test('the file that was chosen is shown, else the one that was changed last', () => {
  const files = [
    { name: 'Makefile', modified: '2026-11-30T09:00:00Z' },
    { name: 'cq.yaml', modified: '2026-11-30T09:05:00Z' },
    { name: 'flavor.yaml', modified: '2026-11-30T09:01:00Z' },
  ];
  assert.equal(nameToShow(files, ''), 'cq.yaml');
  assert.equal(nameToShow(files, 'Makefile'), 'Makefile');
  assert.equal(nameToShow(files, 'gone.yaml'), 'cq.yaml');
  assert.equal(nameToShow([], 'gone.yaml'), '');
});

test('what a later step has ended passes by the record, and no count belies it', () => {
  setWords({ checks_pass: '{verdict}: {passed} of {count}', passes_by_record: '{verdict}, by the record' });
  const checks = [{ outcome: 'passed' }, { outcome: 'failed' }];
  assert.equal(summary({ verdict: 'NOT YET', true_now: false, checks }), 'NOT YET: 1 of 2');
  assert.equal(summary({ verdict: 'PASS', true_now: false, checks }), 'PASS, by the record');
  assert.equal(summary({ verdict: 'PASS', true_now: true, checks: checks.slice(0, 1) }), 'PASS: 1 of 1');
});
