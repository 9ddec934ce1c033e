// The list of steps and the text of the one that is open.

import { commandLines, isForShell } from './commands.js';
import { byId, el, mark, setText } from './dom.js';
import { copy } from './keys.js';
import { passedCount, standingOf } from './standing.js';
import { moment, t } from './words.js';

/** Draws steps; `onOpen(number)` when one is chosen, `onType(text)` for a command's button. */
export class Steps {
  #rows = new Map();

  constructor({ onOpen, onType }) {
    this.onOpen = onOpen;
    this.onType = onType;
  }

  /** The rows of a lab, in its language. */
  build(lab) {
    this.lab = lab;
    this.#rows.clear();
    byId('steps').replaceChildren(...lab.steps.map((step) => this.#row(step)));
  }

  #row(step) {
    const sign = el('span', { class: 'sign' }, mark('fresh'));
    const facts = el('span', { class: 'facts' });
    const button = el(
      'button',
      { type: 'button', on: { click: () => this.onOpen(step.number) } },
      sign,
      el('span', { class: 'number', text: String(step.number) }),
      el('span', { class: 'title', text: step.title }),
      facts,
    );
    this.#rows.set(step.number, { button, sign, facts });
    return el('li', {}, button);
  }

  /** Brings the rows and the open step's line up to date. */
  show(state, open) {
    for (const step of state.steps) {
      const row = this.#rows.get(step.number);
      if (!row) continue;
      const { kind, facts } = standingOf(step, { moment });
      row.sign.replaceChildren(mark(kind));
      const [first, ...more] = facts.map(([key, values]) => t(key, values));
      row.facts.replaceChildren(el('span', { text: first }), ' ', el('span', { text: more.join(' · ') }));
      if (step.number === open) {
        row.button.setAttribute('aria-current', 'step');
        byId('step-facts').replaceChildren(mark(kind), el('span', { text: [first, ...more].join(' · ') }));
        setText(byId('step-cause'), step.cause ?? '');
      } else row.button.removeAttribute('aria-current');
    }
    byId('step-marks').replaceChildren(...state.steps.map((step) => mark(standingOf(step, { moment }).kind)));
    const passed = passedCount(state.steps);
    setText(byId('summary'), t('passed_of', { passed, count: state.steps.length }));
    byId('all-done').hidden = passed < state.steps.length;
  }

  /** Puts the text of a step in place. */
  open(number) {
    const step = this.lab.steps.find((one) => one.number === number) ?? this.lab.steps[0];
    const count = this.lab.steps.length;
    setText(byId('step-count'), t('step_of', { number: step.number, count }));
    setText(byId('step-title'), step.title);
    const text = byId('step-text');
    text.innerHTML = step.html; // the server's own Markdown, without raw HTML
    this.dress(text);
  }

  /** Gives the code blocks below an element their buttons. */
  dress(root) {
    for (const code of root.querySelectorAll('pre > code')) this.#dressBlock(code);
    for (const link of root.querySelectorAll('a[href]')) {
      link.target = '_blank';
      link.rel = 'noreferrer noopener';
    }
  }

  #dressBlock(code) {
    const language = [...code.classList].find((name) => name.startsWith('language-')) ?? '';
    const source = code.textContent.replace(/\n$/, '');
    const isTyped = isForShell(language.replace('language-', ''));
    const lines = commandLines(source).map(({ text, typed }) => el(
      'span',
      { class: 'command' },
      el('code', { text: text || ' ' }),
      isTyped && typed ? this.#typeButton(typed) : null,
    ));
    const block = el(
      'div',
      { class: 'block' },
      el('div', { class: 'block-tools' }, copyButton(source)),
      el('div', { class: 'lines', tabindex: '0', role: 'group', 'aria-label': t('code') }, lines),
    );
    code.parentElement.replaceWith(block);
  }

  #typeButton(typed) {
    const name = t('type_command', { command: typed });
    return el('button', {
      type: 'button', class: 'small', 'aria-label': name, title: t('type_it_title'), text: t('type_it'),
      on: { click: () => this.onType(typed) },
    });
  }
}

function copyButton(text) {
  const button = el('button', { type: 'button', class: 'small', text: t('copy') });
  button.addEventListener('click', async () => {
    setText(button, t(await copy(text) ? 'copied' : 'not_copied'));
    setTimeout(() => setText(button, t('copy')), 2000);
  });
  return button;
}
