// The labs there are: a way to the pages that are open, a command for the others.

import { address, get, toldBy } from './api.js';
import { byId, el, mark } from './dom.js';
import { t } from './words.js';

/** Draws them when the list is unfolded; `onType(text)` for a command's button. */
export class Labs {
  constructor({ onType }) {
    this.onType = onType;
    byId('other-labs').addEventListener('toggle', () => this.draw());
  }

  /** Asks anew, as long as the list is in sight. */
  async draw() {
    if (!byId('other-labs').open) return;
    const rows = await get('labs').then(
      ({ labs }) => labs.map((lab) => this.#row(lab)), (error) => [el('li', { text: toldBy(error) })]);
    byId('labs').replaceChildren(...rows);
  }

  #row(lab) {
    const passed = t('passed_of', { passed: lab.passed, count: lab.steps });
    return el('li', {},
      mark(lab.passed === lab.steps ? 'passed' : 'fresh'),
      el('strong', { text: lab.title }), ' ', el('span', { class: 'soft', text: passed }), ' ', this.#way(lab));
  }

  #way(lab) {
    if (lab.is_here) return el('span', { class: 'soft', text: t('lab_here') });
    if (lab.is_open) {
      return el('a', {
        href: address(`learn/labs/${lab.lab}`), target: '_blank', rel: 'noreferrer noopener', text: t('lab_open'),
      });
    }
    return el('span', {}, `${t('lab_command')} `, el('code', { text: lab.command }), ' ', el('button', {
      type: 'button', class: 'small', text: t('type_it'), title: t('type_it_title'),
      'aria-label': t('type_command', { command: lab.command }), on: { click: () => this.onType(lab.command) },
    }));
  }
}
