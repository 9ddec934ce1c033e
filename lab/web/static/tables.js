// The picture as tables: the same facts in rows, always there for screen readers.

import { el } from './dom.js';
import { known } from './moves.js';
import { amountsText } from './quantity.js';
import { clock, t } from './words.js';

/** Rows `{[column]: text}` for the Workloads of all queues: who holds, then who waits, in order. */
export function workloadRows(picture) {
  const rows = [];
  for (const queue of picture.queues) {
    for (const entry of queue.holding) {
      rows.push({ queue: queue.name, place: t(entry.state === 'admitted' ? 'admitted' : 'reserved'), ...told(entry, picture), reason: '' });
    }
    for (const entry of queue.waiting) {
      const own = [entry.reason, entry.message].filter(Boolean).join(': ');
      const reason = [entry.evicted, own].filter(Boolean).join('; ');
      rows.push({ queue: queue.name, place: placeText(entry, queue.is_by_use), ...told(entry, picture), reason });
    }
  }
  for (const entry of picture.unqueued) {
    rows.push({ queue: '-', place: t('in_no_queue'), ...told(entry, picture), reason: entry.reason });
  }
  return rows;
}

function told(entry, picture) {
  const slots = picture.nodes.flatMap((node) => node.slots
    .filter((slot) => slot.pod && known(slot) === known(entry))
    .map((slot) => `${node.name} ${slot.index}`));
  return {
    local_queue: entry.queue || '-', job: entry.job || '-', workload: entry.workload, amounts: amountsText(entry.amounts),
    priority: priorityText(entry),
    gpus: slots.join(', ') || '-', since: entry.since ? clock(entry.since) : '-',
  };
}

/** The place in line: of the ClusterQueue, or of its own LocalQueue where use decides between them. */
export function placeText({ position }, isByUse) {
  return t(isByUse ? 'place_in_own_line' : 'place_in_line', { position });
}

/** The value that Kueue orders by, and the class that it comes from; empty for neither. */
export function priorityText({ priority, priority_class: name }) {
  return [name, priority || name ? String(priority ?? 0) : ''].filter(Boolean).join(' ');
}

/** Rows for the GPUs of all nodes, and for pods that have none yet. */
export function gpuRows(picture) {
  const placed = picture.nodes.flatMap((node) => node.slots.map((slot) => ({
    node: node.name, gpu: String(slot.index), job: slot.pod ? known(slot) : t('free'), pod: slot.pod || '-',
    phase: slot.phase || '-', ledger: slot.pod ? t(slot.in_ledger ? 'in_ledger' : 'not_in_ledger') : '-',
  })));
  return [...placed, ...picture.unplaced.map((pod) => ({
    node: '-', gpu: '-', job: pod.job || '-', pod: pod.pod, phase: [pod.phase, pod.reason].filter(Boolean).join(': '), ledger: '-',
  }))];
}

/** Rows for what each ClusterQueue has and what is reserved of it. */
export function quotaRows(picture) {
  return picture.queues.flatMap((queue) => queue.resources.map((resource) => ({
    queue: queue.name, state: queue.is_active ? t('active') : [t('not_active'), queue.reason].filter(Boolean).join(': '),
    resource: resource.name, nominal: resource.nominal, reserved: resource.reserved,
  })));
}

const TABLES = [
  ['table_workloads', ['queue', 'local_queue', 'place', 'job', 'workload', 'priority', 'amounts', 'reason', 'gpus', 'since'], workloadRows],
  ['table_gpus', ['node', 'gpu', 'job', 'pod', 'phase', 'ledger'], gpuRows],
  ['table_quota', ['queue', 'state', 'resource', 'nominal', 'reserved'], quotaRows],
];

/** All three tables as elements. */
export function tables(picture) {
  return TABLES.map(([caption, columns, rowsOf]) => {
    const rows = rowsOf(picture);
    const head = el('tr', {}, columns.map((column) => el('th', { scope: 'col', text: t(`column_${column}`) })));
    const body = rows.map((row) => el('tr', {}, columns.map((column) => el('td', { 'data-column': column, text: row[column] }))));
    const nothing = el('tr', {}, el('td', { colspan: String(columns.length), class: 'soft', text: t('nothing') }));
    return el('table', { 'data-table': caption.replace('table_', '') },
      el('caption', { text: t(caption) }), el('thead', {}, head), el('tbody', {}, body.length ? body : nothing));
  });
}
