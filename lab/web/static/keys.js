// Keys that mean something to the page and not to the shell.

const isShifted = (event) => event.ctrlKey && event.shiftKey && !event.altKey && !event.metaKey;

/** Ctrl+Shift+X: the way out for who has no mouse, since Tab is the shell's. No shell can see it. */
export function isLeaving(event) {
  return event.type === 'keydown' && event.code === 'KeyX' && isShifted(event);
}

/**
 * False keeps a key from the shell: copy is done here, paste by the browser itself. With tmux the
 * history of the screen is there, and xterm.js has none to scroll.
 */
export function onKey(event, term, { hasTmux }) {
  if (hasTmux && event.key === 'PageUp' && event.shiftKey && !event.ctrlKey) {
    event.preventDefault();
    if (event.type === 'keydown') term.input('\x1b[5;2~');
    return false;
  }
  if (isShifted(event) && event.code === 'KeyC') {
    event.preventDefault();
    if (event.type === 'keydown' && term.hasSelection()) copy(term.getSelection());
    return false;
  }
  return !(isShifted(event) && event.code === 'KeyV');
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
