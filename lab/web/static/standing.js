// What is known of a step, in words and as a shape.

/** `kind` names the mark; `facts` are pairs of a word's key and its values. */
export function standingOf(step, { moment }) {
  const { passed_at: passedAt = null, true_now: trueNow = null, attempts = 0, hints = 0 } = step;
  const facts = [creditOf(passedAt, attempts, moment)];
  if (passedAt && trueNow !== null) facts.push(truthOf(trueNow, step.ended_by));
  if (step.solved) facts.push(['by_the_answers', {}]);
  if (attempts) facts.push(counted(attempts, 'one_attempt', 'attempts'));
  if (hints) facts.push(counted(hints, 'one_hint', 'hints_used'));
  return { kind: kindOf(passedAt, trueNow, attempts), facts };
}

function creditOf(passedAt, attempts, moment) {
  if (passedAt) return ['passed_at', { time: moment(passedAt) }];
  return [attempts ? 'not_passed' : 'not_tried', {}];
}

function truthOf(trueNow, endedBy) {
  if (!trueNow && endedBy) return ['ended_by_step', { later: endedBy }];
  return [trueNow ? 'true_now' : 'not_true_now', {}];
}

const counted = (count, one, many) => [count === 1 ? one : many, { count }];

function kindOf(passedAt, trueNow, attempts) {
  if (passedAt) return trueNow === false ? 'ended' : 'passed';
  return attempts ? 'tried' : 'fresh';
}

/** How many of the steps have passed. */
export function passedCount(steps) {
  return steps.filter((step) => step.passed_at).length;
}
