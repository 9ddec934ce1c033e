// Making and filling elements. Text always goes in as text; only the server's own Markdown and
// highlighted code come as HTML.

const SVG = 'http://www.w3.org/2000/svg';

/** An element: `on` holds listeners, `text` its text, everything else is an attribute. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') Object.entries(value).forEach(([kind, act]) => made.addEventListener(kind, act));
    else if (name === 'text') made.textContent = value;
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ''));
  return made;
}

/** The element with an id; a typing mistake is an error at once. */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found;
}

/** Puts text in place only when it differs, so that live regions speak of changes alone. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const MARKS = {
  passed: ['M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1z', 'M4.6 8.3l2.4 2.4 4.4-5'],
  ended: ['M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8z', 'M4.6 8.3l2.4 2.4 4.4-5'],
  tried: ['M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8z', 'M8 4.4v4.4M8 11v.6'],
  fresh: ['M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8z', ''],
};

/** The shape of a step's state: filled tick, tick in a ring, ring with a stroke, empty ring. */
export function mark(kind) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', `mark ${kind}`);
  svg.setAttribute('aria-hidden', 'true');
  MARKS[kind].forEach((path, index) => {
    const part = document.createElementNS(SVG, 'path');
    part.setAttribute('d', path);
    part.setAttribute('class', index ? 'sign' : 'ring');
    svg.append(part);
  });
  return svg;
}
