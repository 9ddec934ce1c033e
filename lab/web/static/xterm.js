// Loads xterm.js once, in the way that a strict content security policy allows, and its colours.

const DARK = matchMedia('(prefers-color-scheme: dark)');

const COLOURS = {
  light: {
    background: '#fbfcfe', foreground: '#1d2433', cursor: '#1d2433', cursorAccent: '#fbfcfe',
    selectionBackground: '#b9d2f5', black: '#1d2433', red: '#b3261e', green: '#11643a',
    yellow: '#7a5200', blue: '#1a56b8', magenta: '#7a2370', cyan: '#0b6270', white: '#55607a',
    brightBlack: '#55607a', brightRed: '#b3261e', brightGreen: '#11643a', brightYellow: '#7a5200',
    brightBlue: '#1a56b8', brightMagenta: '#7a2370', brightCyan: '#0b6270', brightWhite: '#1d2433',
  },
  dark: {
    background: '#11151f', foreground: '#e4e9f4', cursor: '#e4e9f4', cursorAccent: '#11151f',
    selectionBackground: '#34507d', black: '#11151f', red: '#ff9a90', green: '#7fd6a4',
    yellow: '#f0c674', blue: '#8ab8ff', magenta: '#e5a3dc', cyan: '#7fd3e0', white: '#e4e9f4',
    brightBlack: '#9aa5bd', brightRed: '#ffb3ab', brightGreen: '#a0e5bf', brightYellow: '#f7d899',
    brightBlue: '#aaccff', brightMagenta: '#f0bfe9', brightCyan: '#a3e2ec', brightWhite: '#ffffff',
  },
};

let loading = null;

/** The two classes of xterm.js; a failed load may be tried again. */
export function loadXterm() {
  loading ??= load().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load() {
  giveNonceToStyles(document.body.dataset.nonce);
  const [{ Terminal }, { FitAddon }] = await Promise.all([
    import('./xterm.mjs'), import('./addon-fit.mjs'),
  ]);
  return { Xterm: Terminal, FitAddon };
}

/** xterm.js makes style elements; without the page's nonce the policy drops them. */
function giveNonceToStyles(nonce) {
  const make = document.createElement;
  document.createElement = function createElement(tag, options) {
    const made = make.call(document, tag, options);
    if (String(tag).toLowerCase() === 'style') made.nonce = nonce;
    return made;
  };
}

/** The terminal's colours for the system's setting. */
export function theme() {
  return COLOURS[DARK.matches ? 'dark' : 'light'];
}

/** Calls with other colours whenever the system's setting changes. */
export function watchTheme(use) {
  DARK.addEventListener('change', () => use(theme()));
}
