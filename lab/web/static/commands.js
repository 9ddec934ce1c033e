// Which parts of a code block can be typed into a terminal. Nothing typed may hold a newline: a
// newline is Enter for every program that does not ask for bracketed paste.

const SHELLS = new Set(['sh', 'bash', 'shell', 'console']);

/** Whether a block of this language is something to type; one without a language is an example. */
export function isForShell(language) {
  return SHELLS.has(language);
}

/**
 * A block as lines `{text, typed}`: `typed` is what the button types, null where there is nothing
 * to type. Lines that end in a backslash are joined to their first one; from a here-document or
 * an open quote on nothing is typed, since it cannot do without newlines.
 */
export function commandLines(code) {
  const lines = code.replace(/\n$/, '').split('\n');
  const made = [];
  for (let at = 0; at < lines.length;) {
    const first = at;
    while (at < lines.length - 1 && /(^|[^\\])(\\\\)*\\$/.test(lines[at])) at += 1;
    const run = lines.slice(first, at + 1);
    at += 1;
    const whole = run.map((line, index) => (index < run.length - 1 ? line.slice(0, -1) : line).trim()).join(' ').trim();
    if (needsNewlines(whole)) {
      return [...made, ...lines.slice(first).map((text) => ({ text, typed: null }))];
    }
    run.forEach((text, index) => {
      const typed = index || !whole || whole.startsWith('#') ? null : whole.replace(/^\$ /, '');
      made.push({ text, typed });
    });
  }
  return made;
}

function needsNewlines(line) {
  if (line.startsWith('#')) return false;
  if (/(?<!<)<<(?!<)-?\s*['"\\]?\w/.test(line)) return true;
  const bare = line.replace(/\\./g, '');
  let open = '';
  for (const sign of bare) {
    if (open ? sign === open : sign === '"' || sign === "'") open = open ? '' : sign;
  }
  return open !== '';
}
