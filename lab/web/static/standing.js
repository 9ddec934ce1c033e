// What is known of a step, in words and as a shape.

/** `kind` names the mark; `facts` are pairs of a word's key and its values. */
export function standingOf(step, { moment }) {
  const { passed_at: passedAt = null, true_now: trueNow = null, attempts = 0, hints = 0 } = step;
  const facts = [];
  if (passedAt) facts.push(['passed_at', { time: moment(passedAt) }]);
  if (step.solved) facts.push(['by_the_answers', {}]);
  if (trueNow !== null && (passedAt || attempts)) facts.push([trueNow ? 'true_now' : 'not_true_now', {}]);
  if (!passedAt) facts.push([attempts ? 'not_passed' : 'not_tried', {}]);
  if (attempts) facts.push([attempts === 1 ? 'one_attempt' : 'attempts', { count: attempts }]);
  if (hints) facts.push([hints === 1 ? 'one_hint' : 'hints_used', { count: hints }]);
  return { kind: kindOf(passedAt, trueNow, attempts), facts };
}

function kindOf(passedAt, trueNow, attempts) {
  if (passedAt) return trueNow === false ? 'ended' : 'passed';
  return attempts ? 'tried' : 'fresh';
}

/** How many of the steps have passed. */
export function passedCount(steps) {
  return steps.filter((step) => step.passed_at).length;
}
