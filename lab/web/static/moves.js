// What changed between two pictures: who moved from the line to the quota to a GPU.

/** The name that a person knows a Workload or pod by: its Job's, else its own. */
export function known(entry) {
  return entry.job || entry.workload || entry.pod || '';
}

/** The moves from one picture to the next, in the order in which they are told. */
export function movesBetween(before, after) {
  if (!before) return [];
  const [was, is] = [stations(before), stations(after)];
  const names = new Set([...was.all, ...is.all]);
  const moves = [...names].flatMap((name) => movesOf(name, was, is));
  for (const [pod, name] of is.pods) {
    if (!was.pods.has(pod)) moves.push({ name, pod, from: is.quota.has(name) ? 'quota' : 'outside', to: 'gpu' });
  }
  const isLeaving = (move) => (move.to === 'outside' || (move.from === 'quota' && move.to === 'line') ? 0 : 1);
  return moves.sort((one, other) => isLeaving(one) - isLeaving(other)); // first who makes room
}

/** Where everybody is: names in the line, with quota, on GPUs; and the name of each pod on a GPU. */
function stations(picture) {
  const line = new Set();
  const quota = new Set();
  const pods = new Map();
  const evicted = new Map(); // why those in the line lost their quota
  for (const queue of picture.queues) {
    queue.waiting.forEach((entry) => {
      line.add(known(entry));
      if (entry.evicted) evicted.set(known(entry), entry.evicted);
    });
    queue.holding.forEach((entry) => quota.add(known(entry)));
  }
  for (const node of picture.nodes) {
    node.slots.filter((slot) => slot.pod).forEach((slot) => pods.set(slot.pod, known(slot)));
  }
  const gpu = new Set(pods.values());
  return { line, quota, gpu, pods, evicted, all: new Set([...line, ...quota, ...gpu]) };
}

function movesOf(name, was, is) {
  const before = ['gpu', 'quota', 'line'].filter((place) => was[place].has(name));
  const gained = (place) => is[place].has(name) && !was[place].has(name);
  const moves = [];
  if (gained('line')) {
    const why = was.quota.has(name) && is.evicted.get(name);
    moves.push({ name, from: was.quota.has(name) ? 'quota' : 'outside', to: 'line', ...(why ? { why } : {}) });
  }
  if (gained('quota')) moves.push({ name, from: was.line.has(name) ? 'line' : 'outside', to: 'quota' });
  if (!is.all.has(name)) moves.push({ name, from: before[0], to: 'outside' });
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
