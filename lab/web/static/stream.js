// The event stream: opened anew by ourselves, since EventSource gives up after an HTTP error.

import { streamAddress } from './api.js';
import { Backoff } from './backoff.js';

const KINDS = ['state', 'verdict', 'checking', 'picture', 'place'];

/** Keeps a stream open; `onEvent(kind, data)`, and `onLink(is_open)` when it comes or goes. */
export class Stream {
  #source = null;
  #timer = 0;
  #backoff = new Backoff();

  constructor({ onEvent, onLink }) {
    this.onEvent = onEvent;
    this.onLink = onLink;
    addEventListener('online', () => this.open());
  }

  /** Opens the stream, or opens it anew: in another language, or after the network came back. */
  open() {
    clearTimeout(this.#timer);
    this.#source?.close();
    const source = new EventSource(streamAddress());
    this.#source = source;
    source.addEventListener('open', () => {
      this.#backoff.opened();
      this.onLink(true);
    });
    source.addEventListener('error', () => this.#lost(source));
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => this.onEvent(kind, JSON.parse(event.data)));
    }
  }

  #lost(source) {
    if (source !== this.#source) return;
    source.close();
    this.onLink(false);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.open(), this.#backoff.next());
  }
}
