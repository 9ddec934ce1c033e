// Quantities as the API writes them, as numbers; only to draw bars, never to judge.

const FACTORS = {
  n: 1e-9, u: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
};

/** The number behind "500m", "2Gi" or "1e3"; NaN for what is no quantity. */
export function amountOf(text) {
  const found = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(String(text).trim());
  return found ? Number(found[1]) * FACTORS[found[2] ?? ''] : NaN;
}

/** How full something is, from 0 to 1; more than all of it is 1. */
export function share(part, whole) {
  const [some, all] = [amountOf(part), amountOf(whole)];
  if (!(all > 0)) return some > 0 ? 1 : 0;
  return Math.min(1, Math.max(0, some / all)) || 0;
}

const COMMON = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods']);

/** Whether a resource is counted in whole devices, few enough to draw one box each. */
export function isCountable(name, nominal, reserved) {
  const [all, some] = [amountOf(nominal), amountOf(reserved)];
  return !COMMON.has(name) && Number.isInteger(all) && Number.isInteger(some) && Math.max(all, some) <= 16;
}

/** Amounts as text, devices before cpu and memory. */
export function amountsText(amounts) {
  const all = Object.entries(amounts ?? {});
  const order = ([name]) => (COMMON.has(name) ? 1 : 0);
  return all.sort((one, other) => order(one) - order(other)).map(([name, amount]) => `${name} ${amount}`).join(', ');
}
