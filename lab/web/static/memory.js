// What the page remembers in this browser: sizes, language, the open step. Never needed to work.

const PREFIX = 'gpu-queue-lab.';

/** What was remembered under a name, or the fallback, too where the browser keeps nothing. */
export function recall(name, fallback) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? fallback : JSON.parse(text);
  } catch {
    return fallback;
  }
}

/** Remembers a value; a browser that keeps nothing is no error. */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch { /* private windows may refuse */ }
}
