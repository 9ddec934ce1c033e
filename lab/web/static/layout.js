// Dividers, tabs, and which part is seen where there is room for one only.

import { recall, remember } from './memory.js';

const STEP = 2; // percent that an arrow key moves a divider

/** The nearest allowed share in percent. */
export function within(share, { low, high }) {
  return Math.round(Math.min(high, Math.max(low, share)) * 10) / 10;
}

/** What a key does to a divider's share; null when it does nothing. */
export function shareAfterKey(key, share, limits) {
  const moves = {
    ArrowLeft: share - STEP, ArrowUp: share - STEP, ArrowRight: share + STEP, ArrowDown: share + STEP,
    PageUp: share - 5 * STEP, PageDown: share + 5 * STEP, Home: limits.low, End: limits.high,
  };
  return Object.hasOwn(moves, key) ? within(moves[key], limits) : null;
}

/** Makes a separator move by pointer and keys; its share is the first part's, in percent. */
export function divide(separator, { name, first, low, high, onChange }) {
  const isUpright = separator.getAttribute('aria-orientation') === 'vertical';
  const frame = separator.parentElement;
  const limits = { low, high };
  const set = (share, isKept = true) => {
    frame.style.setProperty(`--${name}`, `${share}%`);
    separator.setAttribute('aria-valuenow', String(Math.round(share)));
    if (isKept) remember(name, share);
    onChange();
  };
  const current = () => within(recall(name, first), limits);
  separator.setAttribute('aria-valuemin', String(low));
  separator.setAttribute('aria-valuemax', String(high));
  separator.addEventListener('keydown', (event) => {
    const share = shareAfterKey(event.key, current(), limits);
    if (share === null) return;
    event.preventDefault();
    set(share);
  });
  separator.addEventListener('dblclick', () => set(first));
  separator.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    separator.focus();
    separator.setPointerCapture(event.pointerId);
  });
  separator.addEventListener('pointermove', (event) => {
    if (!separator.hasPointerCapture(event.pointerId)) return;
    const box = frame.getBoundingClientRect();
    const share = isUpright ? (event.clientX - box.left) / box.width
      : (event.clientY - box.top) / box.height;
    set(within(share * 100, limits));
  });
  set(current(), false);
}

/** A list of tabs by the usual pattern: arrows move, the chosen one is in the order of Tab.
 * `onPress` hears of a tab that a mouse chose: who typed on goes on typing, and no screen keyboard jumps up. */
export function tabs(list, { onShow, onPress }) {
  const all = [...list.querySelectorAll('[role=tab]')];
  const show = (chosen) => {
    for (const tab of all) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = !isChosen;
    }
    onShow(chosen.dataset.tab);
  };
  list.addEventListener('keydown', (event) => {
    const at = all.indexOf(document.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = all[(to + all.length) % all.length];
    next.focus();
    show(next);
  });
  all.forEach((tab) => tab.addEventListener('click', (event) => {
    show(tab);
    if (event.pointerType === 'mouse') onPress(tab.dataset.tab);
  }));
  return { show: (name) => show(all.find((tab) => tab.dataset.tab === name) ?? all[0]) };
}

/** Where the page is narrow: the buttons that choose the one part that is seen. */
export function views(nav, { onShow }) {
  const all = [...nav.querySelectorAll('button')];
  const show = (name) => {
    document.body.dataset.view = name;
    for (const button of all) {
      if (button.dataset.view === name) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
    remember('view', name);
    onShow(name);
  };
  all.forEach((button) => button.addEventListener('click', () => show(button.dataset.view)));
  show(recall('view', 'guide'));
  return { show };
}
