// Hints: one level at a time, those already shown stay in sight.

import { get, post, toldBy } from './api.js';
import { byId, el } from './dom.js';
import { t } from './words.js';

const refused = (error) => ({ error: toldBy(error) });

/** The hints of the open step. `dress(root)` gives their code blocks buttons. */
export class Hints {
  #step = 0;
  #isAsking = false;

  constructor({ dress }) {
    this.dress = dress;
  }

  /** Shows what was shown before for a step; without a failed check there is nothing to hint at. */
  async open(step, hasFailed) {
    this.#step = step;
    if (!hasFailed) {
      this.#draw({ error: t('hints_after_a_check') });
      return;
    }
    const known = await get('hint', { step }).catch(refused);
    if (step === this.#step) this.#draw(known);
  }

  /** Asks for the next level, which is recorded. */
  async next() {
    if (this.#isAsking) return; // a double click is one wish
    this.#isAsking = true;
    const step = this.#step;
    const shown = await post('hint', { step }).catch(refused);
    this.#isAsking = false;
    if (step !== this.#step) return;
    this.#draw(shown);
    byId('hints').querySelector('.hint:last-of-type')?.scrollIntoView({ block: 'nearest' });
  }

  #draw(known) {
    const box = byId('hints');
    if (known.error) {
      box.replaceChildren(el('p', { class: 'soft', text: known.error }));
      return;
    }
    const items = known.hints.map((hint) => this.#item(hint, known.of));
    box.replaceChildren(
      el('p', { class: 'soft', text: t('hints_for', { title: known.title }) }), ...items, this.#more(known));
  }

  #item(hint, of) {
    const text = el('div', { class: 'text' });
    text.innerHTML = hint.html; // the server's own Markdown, without raw HTML
    this.dress(text);
    return el('section', { class: 'hint' },
      el('h4', { text: t('hint_of', { level: hint.level, of, name: hint.name }) }), text);
  }

  #more(known) {
    if (known.used >= known.of) return el('p', { class: 'soft', text: t('no_more_hints') });
    return el('button', {
      type: 'button', text: t('show_hint', { level: known.used + 1, of: known.of }),
      on: { click: () => this.next() },
    });
  }
}
