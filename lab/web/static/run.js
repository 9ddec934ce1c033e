// A check as it runs: what the stream tells of it, folded into one value.

/** A run that was asked for and of which nothing is heard yet. */
export function begin(step, now) {
  return { id: null, step, began: now, ended: null, checks: [], error: null };
}

/** The run after one `checking` event; an event of another run starts that one. */
export function advance(run, event, now) {
  let known = run;
  if (!known || (known.id !== null && known.id !== event.run) || (known.ended && event.phase === 'started')) {
    known = begin(event.step, now);
  }
  known = { ...known, id: event.run, step: event.step };
  if (event.phase === 'started') return { ...known, checks: [] }; // a new stream tells all of it again
  if (event.phase === 'ended') return { ...known, ended: now, error: event.error ?? null };
  if (event.phase !== 'check') return known;
  return { ...known, checks: withCheck(known.checks, event) };
}

function withCheck(checks, { title, outcome, seconds }) {
  const at = checks.findIndex((check) => check.title === title && !check.outcome);
  if (at < 0) {
    return [...checks, { title, outcome: outcome ?? null, seconds: seconds ?? null }];
  }
  return checks.map((check, index) => (
    index === at ? { ...check, outcome: outcome ?? null, seconds: seconds ?? check.seconds } : check));
}

/** Whether a check is still going on. */
export function isGoing(run) {
  return Boolean(run) && run.ended === null;
}
