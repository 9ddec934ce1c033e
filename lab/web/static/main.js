// Puts the parts of the page together: what the server tells goes to those who show it.

import { get, post, speak, toldBy } from './api.js';
import { Backoff } from './backoff.js';
import { fillBar, showLink, showNotices } from './bar.js';
import { byId, el, setText } from './dom.js';
import { Desk } from './desk.js';
import { Hints } from './hints.js';
import { Labs } from './labs.js';
import { divide, views } from './layout.js';
import { recall, remember } from './memory.js';
import { Picture } from './picture.js';
import { Scene } from './scene.js';
import { advance, begin, isGoing } from './run.js';
import { Steps } from './steps.js';
import { Stream } from './stream.js';
import { announce, runSeconds, showRun, summary, verdictParts } from './verdict.js';
import { setWords, t } from './words.js';

const TICK = 100; // ms between two looks at the seconds of a running check
const LOST_RUN = 120_000; // ms after which a run of which nothing is heard is given up

const known = { lab: null, state: null, verdicts: new Map(), place: null };
let open = 0;
let run = null;
let ticking = 0;

const desk = new Desk();
const picture = new Picture();
const hints = new Hints({ dress: (root) => steps.dress(root) });
const scene = new Scene();
const labs = new Labs({ onType: type });
const steps = new Steps({ onOpen: openStep, onType: type });
const stream = new Stream({ onEvent: hear, onLink: hearLink });
const seen = views(byId('views'), { onShow: () => desk.fit() });

function type(command) {
  seen.show('desk');
  desk.type(command);
}

// --- language ---

async function useLanguage(language) {
  speak(language);
  const lab = await get('lab').catch((error) => {
    if (known.lab) speak(known.lab.language);
    throw error;
  });
  known.lab = lab;
  setWords(lab.words);
  remember('language', lab.language);
  fillBar(lab);
  steps.build(lab);
  labs.draw();
  if (open) showStep();
  picture.redraw();
  desk.redraw();
  stream.open();
}

// --- the open step ---
function openStep(number) {
  if (number === open) return;
  open = number;
  remember('step', number);
  if (!isGoing(run)) run = null;
  showStep();
  byId('guide-scroll').scrollTop = 0;
}

function showStep() {
  steps.open(open);
  scene.open(known.lab.steps.find((step) => step.number === open));
  if (known.state) steps.show(known.state, open);
  showVerdict();
  showHints();
}

function showVerdict() {
  byId('next').hidden = true;
  setText(byId('check'), t(isGoing(run) ? 'checking_step' : 'check_step', { number: run?.ended === null ? run.step : open }));
  byId('check').setAttribute('aria-disabled', String(isGoing(run)));
  if (run && run.step === open && (isGoing(run) || run.error)) {
    showRun(run, performance.now());
    if (run.error) byId('verdict').append(el('p', { class: 'reason', text: run.error }));
    announce(run.error ?? t('checking'));
    return;
  }
  const verdict = known.verdicts.get(open);
  if (!verdict) {
    byId('verdict').replaceChildren(el('p', { class: 'soft', text: t('not_checked') }));
    announce('');
    return;
  }
  const { target } = known.lab;
  byId('verdict').replaceChildren(...verdictParts({ ...verdict.standing, graded_at: verdict.graded_at }, {
    hint: hintButton(), foot: target?.kueue ?? '',
  }));
  announce(summary(verdict.standing));
  byId('next').hidden = verdict.standing.verdict !== 'PASS' || open >= known.lab.steps.length;
}

function showHints() {
  const standing = known.verdicts.get(open)?.standing;
  const failed = standing && standing.verdict !== 'PASS' && standing.checks.some(({ outcome }) => outcome === 'failed');
  hints.open(open, Boolean(failed));
}

function hintButton() {
  return el('button', {
    type: 'button', class: 'small', text: t('to_hints'),
    on: { click: () => { byId('hints-title').scrollIntoView({ block: 'start' }); hints.next(); } },
  });
}

// --- checks ---

async function check() {
  if (isGoing(run)) return;
  run = begin(open, performance.now());
  showVerdict();
  tick();
  toVerdict();
  try {
    const { run: id } = await post('check', { step: run.step });
    if (run.id === null) run = { ...run, id };
  } catch (error) {
    if (error.status === 409) return; // the run of another window shows itself by its events
    run = { ...run, ended: performance.now(), error: toldBy(error) };
    showVerdict();
  }
}

function tick() {
  clearInterval(ticking);
  ticking = setInterval(() => {
    const now = performance.now();
    const seconds = byId('verdict').querySelector('.seconds');
    if (seconds && isGoing(run)) setText(seconds, runSeconds(run, now));
    if (isGoing(run) && now - run.began > LOST_RUN) run = null;
    if (!isGoing(run)) {
      clearInterval(ticking);
      showVerdict();
    }
  }, TICK);
}

function toVerdict() {
  byId('verdict-title').scrollIntoView({ block: 'start' });
  byId('verdict').querySelector('li.failed, li.error')?.scrollIntoView({ block: 'nearest' });
}

// --- what the server tells ---

function hearLink(isLinked) {
  showLink(isLinked);
  picture.link(isLinked);
}

function hear(kind, data) {
  if (kind === 'state') hearState(data);
  else if (kind === 'verdict') hearVerdict(data);
  else if (kind === 'checking') hearChecking(data);
  else if (kind === 'picture') picture.take(data);
  else hearPlace(data);
}

function hearState(state) {
  const before = known.state;
  known.state = state;
  desk.useTmux(state.tmux);
  for (const step of state.steps) { // a reset took the record away
    if (!step.graded_at && known.verdicts.delete(step.number) && step.number === open) showStep();
  }
  if (!open) {
    open = recall('step', 0) || state.open_step;
    if (!known.lab.steps.some((step) => step.number === open)) open = known.lab.steps[0].number;
    showStep();
  }
  steps.show(state, open);
  const used = (of) => of?.steps.find((step) => step.number === open)?.hints;
  if (before && used(before) !== used(state)) showHints();
  showNotices(known);
}

function hearPlace(place) {
  known.place = place;
  showNotices(known);
  if (!place.is_ready || known.lab.target) return;
  get('lab').then(({ target }) => { known.lab.target = target; }, () => {}); // it was not there yet
}

function hearVerdict(verdict) {
  const before = known.verdicts.get(verdict.step);
  known.verdicts.set(verdict.step, verdict);
  const isNew = !before || before.graded_at !== verdict.graded_at;
  const isAwaited = run?.step === verdict.step;
  if (isAwaited && isNew) run = null;
  if (verdict.step !== open) return;
  showVerdict();
  if (!isNew) return;
  desk.refreshFiles();
  showHints();
  if (before || isAwaited) toVerdict();
}

function hearChecking(event) {
  run = advance(run, event, performance.now());
  if (isGoing(run)) tick();
  else if (!run.error) setTimeout(() => { if (run && !isGoing(run)) { run = null; showVerdict(); } }, 1000);
  if (run.step === open || !isGoing(run)) showVerdict();
}

// --- start ---

function prepare() {
  const details = byId('all-steps');
  details.open = recall('steps-open', innerHeight >= 700 && innerWidth > 760);
  details.addEventListener('toggle', () => remember('steps-open', details.open));
  byId('check').addEventListener('click', check);
  byId('next').addEventListener('click', () => openStep(open + 1));
  byId('language').addEventListener('change', (event) => {
    useLanguage(event.target.value).catch(() => fillBar(known.lab)); // no answer: all stays as it is
  });
  byId('keys').addEventListener('click', () => byId('key-help').showModal());
  divide(byId('divide-columns'), { name: 'columns', first: 38, low: 20, high: 75, onChange: () => desk.fit() });
  divide(byId('divide-rows'), { name: 'rows', first: 58, low: 20, high: 85, onChange: () => desk.fit() });
}

async function start() {
  prepare();
  const backoff = new Backoff();
  const trouble = el('p', { class: 'notice', role: 'alert' });
  const begun = async () => {
    try {
      await useLanguage(recall('language', document.body.dataset.language));
    } catch (error) {
      setText(trouble, error.message);
      document.querySelector('main').before(trouble);
      setTimeout(begun, backoff.next());
      return;
    }
    trouble.remove();
    desk.start();
  };
  await begun();
}

start();
