// What was typed while there was no connection: kept for a while, sent in order when it is back.

import { pieces } from './pieces.js';

const KEPT = 64 * 1024; // UTF-16 units
const FRESH = 30_000; // ms: nobody wants a minute-old Enter to happen now

/** Input on its way to the shell, in pieces. */
export class Outbox {
  #waiting = [];
  #size = 0;

  /** Adds input; while it cannot be sent, what is over the limit is dropped, the newest first. */
  put(text, now = performance.now()) {
    if (this.#size && this.#size + text.length > KEPT) return;
    this.#waiting.push({ text, at: now });
    this.#size += text.length;
  }

  /** Sends all that is still fresh, and forgets the rest. */
  flush(send, now = performance.now()) {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#size = 0;
    for (const { text, at } of waiting) {
      if (now - at <= FRESH) pieces(text).forEach(send);
    }
  }
}
