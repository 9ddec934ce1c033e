// The learner's files, to look at: line numbers, colours, and the line that a check speaks of.

import { get, toldBy } from './api.js';
import { byId, el, setText } from './dom.js';
import { recall, remember } from './memory.js';
import { moment, t } from './words.js';

const EVERY = 2000; // ms between looks while the tab is open

/** The files tab: looks again and again while it is open. */
export class Files {
  #chosen = recall('file', '');
  #name = '';
  #seen = '';
  #timer = 0;

  /** Starts to look; the tab is open. */
  open() {
    this.#seen = '';
    this.#look();
  }

  close() {
    clearInterval(this.#timer);
    this.#timer = 0;
  }

  /** Looks at once and draws all anew: a verdict came, or another language. */
  refresh() {
    if (!this.#timer) return;
    this.#seen = '';
    this.#look();
  }

  async #look() {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => document.hidden || this.#look(), EVERY);
    let listed;
    try {
      listed = await get('files');
    } catch (error) {
      setText(byId('file-state'), toldBy(error));
      return;
    }
    const seen = JSON.stringify([listed, this.#chosen]);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#list(listed);
    await this.#show();
  }

  #list({ workspace, files }) {
    this.#name = nameToShow(files, this.#chosen);
    setText(byId('workspace'), workspace);
    byId('file-list').replaceChildren(...files.map((file) => el('li', {}, el('button', {
      type: 'button', 'aria-current': file.name === this.#name ? 'true' : null,
      title: t('changed_at', { time: moment(file.modified) }), text: file.name,
      on: { click: () => this.#choose(file.name) },
    }))));
  }

  #choose(name) {
    this.#chosen = name;
    remember('file', name);
    this.refresh();
  }

  async #show() {
    const view = byId('file-view');
    if (!this.#name) {
      setText(byId('file-state'), t('no_files'));
      view.replaceChildren();
      return;
    }
    let file;
    try {
      file = await get('file', { name: this.#name });
    } catch (error) {
      file = { html: '', marks: [], problem: toldBy(error) };
    }
    setText(byId('file-state'), file.problem ?? '');
    view.replaceChildren(...fileLines(file));
  }
}

/** The file that was chosen; before that, or when it is gone, the one that was changed last. */
export function nameToShow(files, chosen) {
  if (files.some((file) => file.name === chosen)) return chosen;
  const newest = (one, other) => (Date.parse(other.modified) > Date.parse(one.modified) ? other : one);
  return files.length ? files.reduce(newest).name : '';
}

/** The lines of a file as rows, each mark below the line that it is about. */
export function fileLines({ html, marks, problem }) {
  const holder = document.createElement('template');
  holder.innerHTML = html; // pygments' own spans, the file's text escaped
  const lines = [...holder.content.querySelectorAll('.line')];
  const rows = marks.filter((one) => !one.line || one.line > lines.length).map(note);
  lines.forEach((line, index) => {
    const here = marks.filter((one) => one.line === index + 1);
    line.classList.toggle('marked', here.length > 0);
    rows.push(el('div', { class: here.length ? 'row marked' : 'row' },
      el('span', { class: 'line-number', 'aria-hidden': 'true', text: String(index + 1) }), line));
    rows.push(...here.map(note));
  });
  if (!lines.length && !problem) rows.push(el('p', { class: 'soft', text: t('empty_file') }));
  return rows;
}

function note({ text }) {
  return el('p', { class: 'note' }, el('strong', { text: t('check_says') }), ` ${text}`);
}
