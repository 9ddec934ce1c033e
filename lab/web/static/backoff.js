// How long to wait before the next attempt to connect.

const FIRST = 100; // ms
const LONGEST = 1000; // ms: a page is back about a second after the server
const STEADY = 2000; // ms that a connection must last to count as a good one

/** Growing pauses between attempts; a connection that held starts them anew. */
export class Backoff {
  #tries = 0;
  #since = 0;

  opened(now = performance.now()) {
    this.#since = now;
  }

  /** Milliseconds until the next attempt. */
  next(now = performance.now()) {
    if (this.#since && now - this.#since >= STEADY) this.#tries = 0;
    this.#since = 0;
    const pause = Math.min(LONGEST, FIRST * 2 ** this.#tries);
    this.#tries += 1;
    return pause;
  }
}
