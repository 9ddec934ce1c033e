import assert from 'node:assert/strict';
import test from 'node:test';

import { frames, isOutsideLedger, movesBetween } from '../../lab/web/static/moves.js';
import { amountOf, amountsText, isCountable, share } from '../../lab/web/static/quantity.js';
import { gpuRows, placeText, quotaRows, workloadRows } from '../../lab/web/static/tables.js';
import { t } from '../../lab/web/static/words.js';

const workload = (job, more = {}) => ({
  workload: `job-${job}-x`, job, uid: job, amounts: { cpu: '1', 'nvidia.com/gpu': '1' }, since: '', state: 'admitted', ...more,
});

/** A picture from short lists: who holds quota, who waits, and which Job is on which GPU. */
function picture({ holding = [], waiting = [], gpus = [] }) {
  return {
    queues: [{
      name: 'team-a', is_active: true, reason: 'Ready',
      resources: [{ name: 'nvidia.com/gpu', nominal: '2', reserved: String(holding.length) }],
      holding: holding.map((job) => workload(job)),
      waiting: waiting.map((job, index) => workload(job, { position: index + 1, reason: 'WaitingForQuota', message: 'no quota' })),
    }],
    unqueued: [], unplaced: [],
    nodes: [{ name: 'n', gpus: 4, slots: [0, 1, 2, 3].map((index) => ({
      index, pod: gpus[index] ? `${gpus[index]}-p` : null, job: gpus[index] ?? null,
      in_ledger: holding.includes(gpus[index]), phase: gpus[index] ? 'Running' : null,
    })) }],
  };
}

const full = picture({ holding: ['train-1', 'train-2'], waiting: ['train-3'], gpus: ['train-1', 'train-2'] });

test('the first picture tells no moves', () => {
  assert.deepEqual(movesBetween(null, full), []);
  assert.deepEqual(frames(null, full), [full]);
});

test('who leaves is told before who takes the room', () => {
  const after = picture({ holding: ['train-2', 'train-3'], gpus: [undefined, 'train-2'] });
  assert.deepEqual(movesBetween(full, after).map(({ name, from, to }) => [name, from, to]), [
    ['train-1', 'gpu', 'outside'], ['train-3', 'line', 'quota'],
  ]);
});

test('quota and GPU in one step are shown one after the other', () => {
  const after = picture({ holding: ['train-2', 'train-3'], gpus: ['train-3', 'train-2'] });
  const [first, second, ...more] = frames(full, after);
  assert.equal(first.nodes[0].slots[0].pod, null);
  assert.deepEqual(first.queues, after.queues);
  assert.equal(second, after);
  assert.deepEqual(more, []);
  assert.deepEqual(movesBetween(first, second), [{ name: 'train-3', pod: 'train-3-p', from: 'quota', to: 'gpu' }]);
});

test('a pod past the ledger comes from outside', () => {
  const after = picture({ holding: ['train-1', 'train-2'], waiting: ['train-3'], gpus: ['train-1', 'train-2', 'sneaky'] });
  assert.deepEqual(movesBetween(full, after), [{ name: 'sneaky', pod: 'sneaky-p', from: 'outside', to: 'gpu' }]);
  assert.equal(isOutsideLedger(after.nodes[0].slots[2]), true);
  assert.equal(isOutsideLedger(after.nodes[0].slots[3]), false, 'a free GPU is not past anything');
});

test('evicted, and back in line', () => {
  const after = picture({ holding: ['train-1'], waiting: ['train-2', 'train-3'], gpus: ['train-1'] });
  assert.deepEqual(movesBetween(full, after), [{ name: 'train-2', from: 'quota', to: 'line' }]);
});

test('the tables say who holds, who waits in which order and why, and on which GPU', () => {
  const shown = picture({ holding: ['train-1'], waiting: ['train-3', 'train-4'], gpus: ['train-1', 'sneaky'] });
  const rows = workloadRows(shown);
  assert.deepEqual(rows.map((row) => row.job), ['train-1', 'train-3', 'train-4']);
  assert.deepEqual(rows.map((row) => row.gpus), ['n 0', '-', '-']);
  assert.equal(rows[1].reason, 'WaitingForQuota: no quota');
  assert.deepEqual(gpuRows(shown).map((row) => row.ledger), ['in_ledger', 'not_in_ledger', '-', '-']);
  assert.deepEqual(quotaRows(shown).map(({ nominal, reserved }) => [nominal, reserved]), [['2', '1']]);
});

test('a Workload that no queue takes, and a pod that no node takes, have rows', () => {
  const shown = picture({});
  shown.unqueued = [{ workload: 'w', job: 'lost', queue: 'nowhere', reason: 'no LocalQueue nowhere' }];
  shown.unplaced = [{ pod: 'big-p', job: 'big', phase: 'Pending', reason: 'Unschedulable' }];
  assert.deepEqual(workloadRows(shown).map((row) => [row.job, row.reason]), [['lost', 'no LocalQueue nowhere']]);
  assert.equal(gpuRows(shown).at(-1).phase, 'Pending: Unschedulable');
});

test('quantities are numbers', () => {
  assert.equal(amountOf('500m'), 0.5);
  assert.equal(amountOf('2Gi'), 2 * 2 ** 30);
  assert.equal(amountOf('1e3'), 1000);
  assert.ok(Number.isNaN(amountOf('much')));
});

test('shares stay between nothing and all', () => {
  assert.equal(share('500m', '2'), 0.25);
  assert.equal(share('3', '2'), 1);
  assert.equal(share('0', '0'), 0);
  assert.equal(share('1', '0'), 1);
  assert.equal(share('?', '2'), 0);
});

test('only a few whole devices are drawn one by one', () => {
  assert.equal(isCountable('nvidia.com/gpu', '2', '0'), true);
  assert.equal(isCountable('cpu', '2', '0'), false);
  assert.equal(isCountable('nvidia.com/gpu', '64', '0'), false);
  assert.equal(amountsText({ cpu: '1', 'nvidia.com/gpu': '2' }), 'nvidia.com/gpu 2, cpu 1');
});

test('who lost its quota tells why, with the move', () => {
  const before = picture({ holding: ['low'], gpus: ['low'] });
  const after = picture({ holding: ['high'], waiting: ['low'], gpus: ['high'] });
  after.queues[0].waiting[0].evicted = 'Preempted: it had to make room for high';
  const [back] = movesBetween(before, after); // told before the one that took its place
  assert.deepEqual(back, { name: 'low', from: 'quota', to: 'line', why: 'Preempted: it had to make room for high' });
  const reasons = workloadRows(after).map((row) => row.reason);
  assert.equal(reasons[1], 'Preempted: it had to make room for high; WaitingForQuota: no quota');
});

test('a class and its value stand in the table; who has neither shows nothing', () => {
  const shown = picture({ holding: ['a'], waiting: ['b', 'c'] });
  Object.assign(shown.queues[0].holding[0], { priority: 1000, priority_class: 'high' });
  Object.assign(shown.queues[0].waiting[0], { priority: 0, priority_class: 'zero' });
  assert.deepEqual(workloadRows(shown).map((row) => row.priority), ['high 1000', 'zero 0', '']);
});

test('where use decides each LocalQueue has its own line', () => {
  const shown = picture({ waiting: ['one', 'two'] });
  shown.queues[0].is_by_use = true;
  shown.queues[0].waiting.forEach((entry, index) => Object.assign(entry, { position: 1, queue: `queue-${index}` }));
  const rows = workloadRows(shown);
  assert.deepEqual(rows.map(({ local_queue: queue }) => queue), ['queue-0', 'queue-1']);
  assert.equal(placeText({ position: 1 }, true), t('place_in_own_line', { position: 1 }));
  assert.ok(rows.every(({ place }) => place === placeText({ position: 1 }, true)));
});
