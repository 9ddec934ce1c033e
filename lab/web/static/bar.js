// The bar on top: title, language, keys, and what is wrong with page or place.

import { byId, el, setText } from './dom.js';
import { fillWords, t } from './words.js';

const KEYS = ['copy', 'paste', 'select', 'scroll', 'leave', 'divider'];

/** Everything that is said in a lab's language and stays so. */
export function fillBar(lab) {
  document.documentElement.lang = lab.language;
  document.title = lab.title;
  fillWords(document.body);
  setText(byId('lab-title'), lab.title);
  byId('language').replaceChildren(...lab.languages.map((code) => el('option', {
    value: code, lang: code, selected: code === lab.language, text: t(`language_${code}`),
  })));
  byId('key-rows').replaceChildren(...KEYS.map((name) => el('tr', {},
    el('th', { scope: 'row', text: t(`key_${name}`) }), el('td', { text: t(`key_${name}_how`) }))));
}

/** Whether the page hears of what happens. */
export function showLink(isLinked) {
  setText(byId('link'), t(isLinked ? 'linked' : 'not_linked'));
  byId('link').classList.toggle('bad', !isLinked);
}

/** What the learner should know of the place: it is away, or something is missing here. */
export function showNotices({ state, place }) {
  const texts = [...(state?.remarks ?? [])];
  if (place && !place.is_ready) texts.unshift(place.text ?? t('place_away'));
  const box = byId('notices');
  if (box.textContent !== texts.join('')) {
    box.replaceChildren(...texts.map((text) => el('p', { class: 'notice', text })));
  }
}
