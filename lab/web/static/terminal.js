// One terminal: xterm.js on one side, a tmux client behind a websocket on the other.

import { address, post } from './api.js';
import { Backoff } from './backoff.js';
import { Outbox } from './outbox.js';
import { isLeaving, onKey } from './keys.js';
import { t } from './words.js';
import { loadXterm, theme, watchTheme } from './xterm.js';

const PATIENCE = 5000; // ms for one attempt to connect

/**
 * A terminal in `host`. It connects when it is first shown, and by itself whenever the connection
 * is lost; until the new one has drawn, the old screen stays. `onLink(state, text)` tells how it
 * is: "connecting", "connected", "lost".
 */
export class Terminal {
  #socket = null;
  #timer = 0;
  #backoff = new Backoff();
  #outbox = new Outbox();
  #isStale = false;
  #opening = null;

  constructor(number, host, { onLink, onLeave }) {
    this.number = number;
    this.host = host;
    this.onLink = onLink;
    this.onLeave = onLeave;
    this.isReader = false;
    this.hasTmux = false;
    addEventListener('online', () => this.#opening && this.#reconnect(0));
  }

  /** Shows it: the first time this loads xterm.js and connects. */
  open() {
    this.#opening ??= this.#start().catch(() => {
      this.#opening = null; // tried again when it is next shown
      this.onLink('lost', t('no_xterm'));
    });
    return this.#opening.then(() => this.fit());
  }

  focus() {
    this.term?.focus();
  }

  /** Types text at the prompt, without any control character: Enter is left to the learner. */
  async type(text) {
    await this.open();
    if (!this.term) return;
    this.term.input(text.replace(/\p{Cc}+/gu, ' '), true);
    this.term.focus();
  }

  /** Whether a screen reader is served with the rows as text. */
  readAloud(isReader) {
    this.isReader = isReader;
    if (this.term) this.term.options.screenReaderMode = isReader;
  }

  /** Takes the size of its host, which is the shell's size, too. */
  fit() {
    if (this.term && this.host.clientWidth > 40 && this.host.clientHeight > 20) this.fitting.fit();
  }

  async #start() {
    this.onLink('connecting', '');
    const { Xterm, FitAddon } = await loadXterm();
    this.term = new Xterm({
      allowProposedApi: false, cursorBlink: false, fontSize: innerWidth >= 2200 ? 18 : 14, lineHeight: 1.2, scrollback: 2000,
      fontFamily: getComputedStyle(this.host).fontFamily,
      screenReaderMode: this.isReader, theme: theme(), rightClickSelectsWord: false,
    });
    this.fitting = new FitAddon();
    this.term.loadAddon(this.fitting);
    this.term.open(this.host);
    watchTheme((colours) => { this.term.options.theme = colours; });
    this.term.attachCustomKeyEventHandler((event) => this.#key(event));
    this.term.onData((data) => this.#send(data));
    this.term.onBinary((data) => this.#send(data));
    this.term.onResize(() => this.#tellSize());
    new ResizeObserver(() => this.fit()).observe(this.host);
    this.fit();
    this.#connect();
  }

  #key(event) {
    if (isLeaving(event)) {
      event.preventDefault();
      this.#leave();
      return false;
    }
    return onKey(event, this.term, { hasTmux: this.hasTmux });
  }

  /** Tab goes on from there to what is behind the terminal, not back into it. */
  #leave() {
    const input = this.term.textarea;
    input.tabIndex = -1;
    this.onLeave();
    document.activeElement.addEventListener('blur', () => { input.tabIndex = 0; }, { once: true });
  }

  async #connect() {
    let name;
    try {
      ({ name } = await post('terminal', { number: this.number }, PATIENCE));
    } catch (error) {
      this.#reconnect(this.#backoff.next(), error.status ? error.message : '');
      return;
    }
    const url = address(`terminals/websocket/${encodeURIComponent(name)}`, { socket: true });
    const socket = new WebSocket(url);
    const late = setTimeout(() => socket.close(), PATIENCE);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      clearTimeout(late);
      if (socket === this.#socket) this.#opened();
    });
    socket.addEventListener('message', (event) => this.#hear(socket, JSON.parse(event.data)));
    socket.addEventListener('close', () => {
      clearTimeout(late);
      if (socket === this.#socket) this.#reconnect(this.#backoff.next());
    });
  }

  #opened() {
    this.#backoff.opened();
    this.#isStale = true;
    this.#tellSize();
    this.onLink('connected', '');
  }

  #hear(socket, [kind, data]) {
    if (socket !== this.#socket) return;
    if (kind === 'disconnect') socket.close();
    if (kind !== 'stdout') return;
    if (this.#isStale) { // the new client draws the whole screen
      this.#isStale = false;
      this.term.reset();
      this.#outbox.flush((piece) => this.#post(piece));
    }
    this.term.write(data);
  }

  #reconnect(pause, text = '') {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.onLink('lost', text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), pause);
  }

  #send(data) {
    this.#outbox.put(data);
    if (this.#socket?.readyState === WebSocket.OPEN && !this.#isStale) {
      this.#outbox.flush((piece) => this.#post(piece));
    }
  }

  #post(piece) {
    this.#socket.send(JSON.stringify(['stdin', piece]));
  }

  #tellSize() {
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#socket.send(JSON.stringify(['set_size', this.term.rows, this.term.cols, 0, 0]));
    }
  }
}
