// The live panel: shows pictures one after the other, each move long enough to be seen.

import { draw } from './drawing.js';
import { byId, el, setText } from './dom.js';
import { recall, remember } from './memory.js';
import { frames, movesBetween } from './moves.js';
import { tables } from './tables.js';
import { clock, t } from './words.js';

const MOVE = 900; // ms that a move takes
const HURRIED = 300; // ms when many pictures wait to be shown
const MOST = 8; // pictures that may wait to be shown
const MARKED = 8000; // ms that what moved stays marked
const TOLD = 4; // moves that stay in the list below
const STILL = matchMedia('(prefers-reduced-motion: reduce)');

/** The picture's panel. */
export class Picture {
  #newest = null;
  #last = null; // the newest that is in the queue of frames
  #shown = null;
  #queue = [];
  #isMoving = false;
  #marks = new Map();
  #lostAt = ''; // when the page heard last, while it hears nothing

  constructor() {
    this.isTable = recall('table', false);
    byId('as-table').addEventListener('click', () => this.#toggle());
    this.#applyToggle();
  }

  /** Takes the newest picture. The tables have it at once, the drawing after the moves before. */
  take(picture) {
    this.#newest = picture;
    this.#fillTables();
    this.#queue.push(...frames(this.#last, picture));
    if (this.#queue.length > MOST) this.#queue.splice(0, this.#queue.length - 2); // never far behind
    this.#last = picture;
    this.#next();
  }

  /** Whether news come; what is shown without them is of the past, and says so. */
  link(isLinked) {
    if (isLinked === !this.#lostAt) return;
    this.#lostAt = isLinked ? '' : new Date().toISOString();
    if (this.#newest) this.#sayHowOld();
  }

  /** Draws everything anew, in another language. */
  redraw() {
    this.#applyToggle();
    byId('moves').replaceChildren();
    if (!this.#newest) return;
    this.#fillTables();
    this.#render(this.#shown ?? this.#newest, []);
  }

  #toggle() {
    this.isTable = !this.isTable;
    remember('table', this.isTable);
    this.#applyToggle();
  }

  #applyToggle() {
    byId('as-table').setAttribute('aria-pressed', String(this.isTable));
    byId('drawing').hidden = this.isTable;
    byId('tables').classList.toggle('visually-hidden', !this.isTable);
  }

  #fillTables() {
    byId('tables').replaceChildren(...tables(this.#newest));
    this.#sayHowOld();
  }

  #sayHowOld() {
    const { trouble } = this.#newest;
    const isLive = this.#newest.is_live && !this.#lostAt;
    const asOf = this.#newest.is_live && this.#lostAt ? this.#lostAt : this.#newest.as_of;
    setText(byId('picture-state'), trouble || t(isLive ? 'picture_live' : 'picture_old', { time: clock(asOf) }));
    byId('picture-state').classList.toggle('bad', Boolean(trouble) || !isLive);
  }

  #next() {
    if (this.#isMoving || !this.#queue.length) return;
    const picture = this.#queue.shift();
    const moves = movesBetween(this.#shown, picture);
    this.#render(picture, moves);
    this.#tell(moves);
    this.#shown = picture;
    if (!moves.length || document.hidden) {
      this.#next();
      return;
    }
    this.#isMoving = true;
    setTimeout(() => {
      this.#isMoving = false;
      this.#next();
    }, this.#queue.length > 3 ? HURRIED : MOVE);
  }

  #render(picture, moves) {
    const box = byId('drawing');
    const before = rects(box);
    moves.forEach((move) => this.#marks.set(`${move.to}:${move.name}`, { from: move.from, until: Date.now() + MARKED }));
    box.replaceChildren(...draw(picture));
    for (const chip of box.querySelectorAll('[data-key]')) this.#animate(chip, before);
  }

  /** Lets a chip come from where it was, or from where its Job was, and marks it for a while. */
  #animate(chip, before) {
    const { key } = chip.dataset;
    const [zone] = key.split(':');
    const name = chip.querySelector('strong').textContent;
    const marked = this.#marks.get(`${zone}:${name}`);
    if (marked && marked.until > Date.now()) {
      chip.classList.add('moved');
      setTimeout(() => chip.classList.remove('moved'), marked.until - Date.now());
    }
    const from = before.get(key) ?? (marked && before.get(`${marked.from}:${name}`));
    if (STILL.matches || !from) return;
    const to = chip.getBoundingClientRect();
    const [x, y] = [from.left - to.left, from.top - to.top];
    if (Math.abs(x) + Math.abs(y) < 2) return;
    chip.animate(
      [{ transform: `translate(${x}px, ${y}px)`, zIndex: 2 }, { transform: 'none', zIndex: 2 }],
      { duration: MOVE - 100, easing: 'ease-in-out' },
    );
  }

  #tell(moves) {
    const list = byId('moves');
    for (const { name, from, to, why } of moves) {
      const key = `${name}:${from}:${to}`;
      if (list.lastChild?.dataset.move === key) { // several pods of one Job: one line with their number
        this.#count(list.lastChild);
        continue;
      }
      list.append(el('li', { 'data-move': key }, el('span', { class: 'soft', text: clock(new Date().toISOString()) }), ' ',
        el('strong', { text: name }), ` ${t(`moved_${from}_${to}`)}`, why ? ` (${why})` : ''));
    }
    while (list.children.length > TOLD) list.firstChild.remove();
  }

  #count(item) {
    const count = Number(item.dataset.count ?? 1) + 1;
    item.dataset.count = String(count);
    item.querySelector('.count')?.remove();
    item.append(el('span', { class: 'count', text: ` × ${count}` }));
  }
}

function rects(box) {
  return new Map([...box.querySelectorAll('[data-key]')].map((chip) => [chip.dataset.key, chip.getBoundingClientRect()]));
}
