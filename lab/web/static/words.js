// The page's sentences in the reader's language, as the server has them.

let words = {};

/** Takes the sentences of one language; they replace those of another. */
export function setWords(given) {
  words = given;
}

/** The sentence of a key with its values put in; an unknown key shows itself. */
export function t(key, values = {}) {
  const template = Object.hasOwn(words, key) ? words[key] : key;
  return template.replace(/\{(\w+)\}/g, (all, name) =>
    Object.hasOwn(values, name) ? String(values[name]) : all);
}

/** Fills everything that the template marks with data-word (text) and data-word-label (name). */
export function fillWords(root) {
  for (const element of root.querySelectorAll('[data-word]')) {
    element.textContent = t(element.dataset.word);
  }
  for (const element of root.querySelectorAll('[data-word-label]')) {
    element.setAttribute('aria-label', t(element.dataset.wordLabel));
  }
}

const two = (number) => String(number).padStart(2, '0');

/** Hours, minutes and seconds of an RFC 3339 time by the reader's clock; other text as it is. */
export function clock(time) {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time ?? '';
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** Hours and minutes for today, with the day before them for any other day. */
export function moment(time, now = new Date()) {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time ?? '';
  const short = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === now.toDateString()) return short;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${short}`;
}
