// Keys that mean something to the page and not to the shell.

const LEAVE_WITHIN = 1500; // ms between Esc and Tab

let escapedAt = -Infinity;

/** Esc, then Tab (or Shift+Tab): the way out of the terminal for who has no mouse. */
export function isLeaving(event, now = performance.now()) {
  if (event.type !== 'keydown' || event.key === 'Shift') return false;
  const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey;
  if (event.key === 'Tab' && isPlain && now - escapedAt <= LEAVE_WITHIN) {
    escapedAt = -Infinity;
    event.preventDefault();
    return true;
  }
  escapedAt = event.key === 'Escape' && isPlain ? now : -Infinity;
  return false;
}

/** False keeps a key from the shell: copy is done here, paste by the browser itself. */
export function onKey(event, term) {
  if (event.key === 'PageUp' && event.shiftKey && !event.ctrlKey) { // the shell's screen scrolls, not xterm.js
    event.preventDefault();
    if (event.type === 'keydown') term.input('\x1b[5;2~');
    return false;
  }
  const isShifted = event.ctrlKey && event.shiftKey && !event.altKey && !event.metaKey;
  if (isShifted && event.code === 'KeyC') {
    event.preventDefault();
    if (event.type === 'keydown' && term.hasSelection()) copy(term.getSelection());
    return false;
  }
  return !(isShifted && event.code === 'KeyV');
}

/** Puts text on the clipboard; true when the browser let us. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text) { // plain HTTP on another address has no clipboard object
  const put = (event) => {
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', put, { once: true, capture: true });
  const done = document.execCommand('copy');
  document.removeEventListener('copy', put, { capture: true });
  return done;
}
