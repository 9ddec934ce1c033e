// The picture as boxes: the waiting line, the ledger of each ClusterQueue, the GPUs of each node.

import { el } from './dom.js';
import { isOutsideLedger, known } from './moves.js';
import { amountsText, isCountable, share } from './quantity.js';
import { placeText, priorityText } from './tables.js';
import { t } from './words.js';

const TONES = 8;
const CROWD = 3;
const tones = new Map();

/** The same tone for the same Job everywhere; it only repeats what its name says. */
function toneOf(name) {
  if (!tones.has(name)) tones.set(name, tones.size % TONES);
  return `tone-${tones.get(name)}`;
}

function chip(entry, key, ...lines) {
  const name = known(entry);
  return el('div', { class: `chip ${toneOf(name)}`, 'data-key': key },
    el('strong', { text: name, title: name }), lines);
}

const line = (text, kind = 'quiet-line') => (text ? el('span', { class: kind, text, title: text }) : null);

/** Everything that the picture shows, as elements. */
export function draw(picture) {
  const queues = picture.queues.length ? picture.queues.map(drawQueue)
    : [el('p', { class: 'soft empty-note', text: t('no_queues') })];
  const nodes = picture.nodes.length ? picture.nodes.map(drawNode)
    : [el('p', { class: 'soft', text: t('no_nodes') })];
  return [
    el('div', { class: 'queues' }, queues, drawUnqueued(picture.unqueued)),
    el('div', { class: 'nodes' }, nodes, drawUnplaced(picture.unplaced)),
  ];
}

function drawQueue(queue) {
  // Names of many holders beside each other need the whole width: the line stands above them then.
  const isCrowded = queue.holding.length >= CROWD;
  return el('section', { class: isCrowded ? 'queue crowded' : 'queue' },
    el('div', { class: 'zone line' }, el('h3', { text: t('waiting_line') }), drawLine(queue)),
    el('div', { class: 'zone ledger' },
      el('h3', {}, el('span', { text: t('quota_of') }), ' ', el('code', { text: queue.name }), ' ',
        el('span', { class: queue.is_active ? 'state' : 'state bad', text: t(queue.is_active ? 'active' : 'not_active') })),
      queue.is_active ? null : line(queue.reason, 'reason'),
      devicesFirst(queue.resources).map((resource) => drawResource(resource, queue)),
      drawOthers(queue)));
}

const isDevice = ({ name, nominal, reserved }) => isCountable(name, nominal, reserved);
const devicesFirst = (resources) => [...resources].sort((one, other) => isDevice(other) - isDevice(one));

function drawLine({ waiting, is_by_use: isByUse }) {
  if (!waiting.length) return el('p', { class: 'soft empty', text: t('nobody_waits') });
  return [isByUse ? line(t('by_use'), 'by-use soft') : null, el('ol', {}, waiting.map((entry) => el('li', {}, chip(
    entry, `line:${known(entry)}`, line(`${placeText(entry, isByUse)} · ${gpusOf(entry)}`),
    drawLocalQueue(entry), drawPriority(entry), line(entry.evicted, 'reason'), line(entry.reason, 'reason'), line(entry.message, 'message')))))];
}

const drawLocalQueue = ({ queue }) => (queue ? line(`LocalQueue ${queue}`) : null);

function gpusOf({ amounts }) {
  const found = Object.entries(amounts ?? {}).find(([name, amount]) => isCountable(name, amount, amount));
  return found ? `${found[1]} GPU` : amountsText(amounts);
}

function drawResource({ name, nominal, reserved }, queue) {
  const numbers = el('span', { class: 'numbers', text: t('reserved_of', { reserved, nominal }) });
  const head = el('p', { class: 'resource' }, el('code', { text: name }), ' ', numbers);
  if (isDevice({ name, nominal, reserved })) return [head, drawCells(name, Number(nominal), queue)];
  const bar = el('div', { class: 'bar' }, el('div', { class: 'fill' }));
  bar.firstChild.style.width = `${share(reserved, nominal) * 100}%`;
  return [head, bar];
}

/** One box for each device of the quota; a Workload takes as many as it holds. */
function drawCells(resource, nominal, queue) {
  const cells = queue.holding.filter((entry) => Number(entry.amounts?.[resource]) > 0).map((entry) => {
    const made = chip(entry, `quota:${known(entry)}`, line(t(entry.state === 'admitted' ? 'admitted' : 'reserved')),
      drawLocalQueue(entry), drawPriority(entry));
    made.style.gridColumn = `span ${Math.min(Number(entry.amounts[resource]), 8)}`;
    return made;
  });
  const used = queue.holding.reduce((sum, entry) => sum + (Number(entry.amounts?.[resource]) || 0), 0);
  for (let free = used; free < nominal; free += 1) cells.push(el('div', { class: 'chip free', text: t('free') }));
  const box = el('div', { class: 'cells' }, cells);
  box.style.setProperty('--count', String(Math.min(Math.max(nominal, used, 1), 8)));
  return [box, used > nominal ? line(t('over_nominal', { count: used - nominal }), 'reason') : null];
}

function drawOthers(queue) {
  const counted = queue.resources.filter(isDevice).map((one) => one.name);
  const others = queue.holding.filter((entry) => !counted.some((name) => Number(entry.amounts?.[name]) > 0));
  return others.map((entry) => chip(entry, `quota:${known(entry)}`, line(amountsText(entry.amounts)), drawPriority(entry)));
}

function drawPriority(entry) {
  const text = priorityText(entry);
  return text ? line(t('priority_of', { priority: text })) : null;
}

function drawNode(node) {
  return el('section', { class: 'zone node' },
    el('h3', {}, el('span', { text: t('gpus_of') }), ' ', el('code', { text: node.name })),
    node.slots.length ? el('div', { class: 'slots' }, node.slots.map(drawSlot))
      : el('p', { class: 'soft empty', text: t('no_gpus') }));
}

function drawSlot(slot) {
  const name = el('span', { class: 'slot-name', text: t('gpu_number', { number: slot.index }) });
  if (!slot.pod) return el('div', { class: 'slot' }, name, el('div', { class: 'chip free', text: t('free') }));
  const isOutside = isOutsideLedger(slot);
  const made = chip(slot, `gpu:${slot.pod}:${slot.index}`, line(slot.phase),
    isOutside ? line(t('not_in_ledger'), 'outside-line') : null);
  made.classList.toggle('outside', isOutside);
  return el('div', { class: 'slot' }, name, made);
}

function drawUnqueued(entries) {
  if (!entries.length) return null;
  return el('div', { class: 'zone aside' }, el('h3', { text: t('in_no_queue') }),
    entries.map((entry) => chip(entry, `none:${known(entry)}`, line(entry.queue), drawPriority(entry), line(entry.reason, 'reason'))));
}

function drawUnplaced(entries) {
  if (!entries.length) return null;
  return el('div', { class: 'zone aside' }, el('h3', { text: t('on_no_node') }),
    entries.map((entry) => chip(entry, `none:${entry.pod}`, line(entry.phase), line(entry.reason, 'reason'))));
}
