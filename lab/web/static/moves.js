// What changed between two pictures: who moved from the line to the quota to a GPU.

/** The name that a person knows a Workload or pod by: its Job's, else its own. */
export function known(entry) {
  return entry.job || entry.workload || entry.pod || '';
}

/** Where everybody is: names in the line, names that hold quota, pods on GPUs by name. */
export function places(picture) {
  const line = new Set();
  const quota = new Set();
  const gpu = new Map();
  for (const queue of picture?.queues ?? []) {
    queue.waiting.forEach((entry) => line.add(known(entry)));
    queue.holding.forEach((entry) => quota.add(known(entry)));
  }
  for (const node of picture?.nodes ?? []) {
    node.slots.filter((slot) => slot.pod).forEach((slot) => gpu.set(slot.pod, known(slot)));
  }
  return { line, quota, gpu };
}

/** The moves from one picture to the next, in the order in which they are told. */
export function movesBetween(before, after) {
  if (!before) return [];
  const [was, is] = [places(before), places(after)];
  const held = new Set([...was.gpu.values()]);
  const holds = new Set([...is.gpu.values()]);
  const moves = [];
  const everybody = new Set([...was.line, ...was.quota, ...held, ...is.line, ...is.quota, ...holds]);
  for (const name of everybody) {
    if (!was.line.has(name) && is.line.has(name)) moves.push({ name, from: was.quota.has(name) ? 'quota' : 'outside', to: 'line' });
    if (!was.quota.has(name) && is.quota.has(name)) moves.push({ name, from: was.line.has(name) ? 'line' : 'outside', to: 'quota' });
    const isGone = !is.line.has(name) && !is.quota.has(name) && !holds.has(name);
    if (isGone) moves.push({ name, from: held.has(name) ? 'gpu' : was.quota.has(name) ? 'quota' : 'line', to: 'outside' });
  }
  for (const [pod, name] of is.gpu) {
    if (!was.gpu.has(pod)) moves.push({ name, pod, from: is.quota.has(name) ? 'quota' : 'outside', to: 'gpu' });
  }
  return moves;
}

/**
 * The pictures to show one after the other: when somebody got quota and a GPU in one step, first
 * the quota, so that the way can be followed.
 */
export function frames(before, after) {
  const moves = movesBetween(before, after);
  const gained = new Set(moves.filter((move) => move.to === 'quota').map((move) => move.name));
  const early = new Set(moves.filter((move) => move.to === 'gpu' && gained.has(move.name)).map((move) => move.pod));
  if (!early.size) return [after];
  const nodes = after.nodes.map((node) => ({
    ...node,
    slots: node.slots.map((slot) => (
      early.has(slot.pod) ? { ...slot, pod: null, job: null, phase: null } : slot)),
  }));
  return [{ ...after, nodes }, after];
}

/** Whether a pod on a GPU goes past the ledger. */
export function isOutsideLedger(slot) {
  return Boolean(slot.pod) && !slot.in_ledger;
}
