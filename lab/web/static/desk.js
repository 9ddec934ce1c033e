// The right side: two terminals and the files, of which one is seen.

import { byId, setText } from './dom.js';
import { Files } from './files.js';
import { tabs } from './layout.js';
import { recall, remember } from './memory.js';
import { Terminal } from './terminal.js';
import { t } from './words.js';

/** Terminals 1 and 2 and the files, behind tabs. */
export class Desk {
  #files = new Files();
  #links = new Map();
  #shown = '';

  constructor() {
    this.terminals = new Map([1, 2].map((number) => [`terminal-${number}`, new Terminal(number, byId(`terminal-${number}`), {
      onLink: (state, text) => this.#hearLink(`terminal-${number}`, state, text),
      onLeave: () => byId('reader').focus(),
    })]));
    this.tabs = tabs(byId('tabs'), {
      onShow: (name) => this.#show(name), onPress: (name) => this.#handOver(this.terminals.get(name)),
    });
    byId('reader').addEventListener('click', () => this.#read(!recall('reader', false)));
  }

  /** Shows the tab of the last time. */
  start() {
    this.#read(recall('reader', false));
    this.tabs.show(recall('tab', 'terminal-1'));
  }

  /** Types at the prompt of the terminal that is seen, or of the first one. */
  type(text) {
    const name = this.terminals.has(this.#shown) ? this.#shown : 'terminal-1';
    if (name !== this.#shown) this.tabs.show(name);
    this.terminals.get(name).type(text);
  }

  fit() {
    this.terminals.get(this.#shown)?.fit();
  }

  /** Whether the shells live in tmux, which then keeps what has scrolled by. */
  useTmux(hasTmux) {
    this.terminals.forEach((terminal) => { terminal.hasTmux = hasTmux; });
  }

  refreshFiles() {
    this.#files.refresh();
  }

  /** Another language. */
  redraw() {
    this.#files.refresh();
    this.#showLink();
  }

  #show(name) {
    this.#shown = name;
    remember('tab', name);
    const isFiles = name === 'files';
    byId('key-line').hidden = isFiles;
    byId('reader').hidden = isFiles;
    if (isFiles) this.#files.open();
    else {
      this.#files.close();
      this.terminals.get(name).open();
    }
    this.#showLink();
  }

  async #handOver(terminal) {
    await terminal?.open();
    terminal?.focus();
  }

  #read(isReader) {
    remember('reader', isReader);
    byId('reader').setAttribute('aria-pressed', String(isReader));
    this.terminals.forEach((terminal) => terminal.readAloud(isReader));
  }

  #hearLink(name, state, text) {
    this.#links.set(name, { state, text });
    this.#showLink();
  }

  #showLink() {
    const { state, text } = this.#links.get(this.#shown) ?? { state: '', text: '' };
    const box = byId('terminal-link');
    setText(box, state ? text || t(`terminal_${state}`) : '');
    box.classList.toggle('bad', state === 'lost');
    box.dataset.state = state;
  }
}
