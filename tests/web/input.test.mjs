import assert from 'node:assert/strict';
import test from 'node:test';

import { Backoff } from '../../lab/web/static/backoff.js';
import { Outbox } from '../../lab/web/static/outbox.js';
import { pieces } from '../../lab/web/static/pieces.js';

const sent = (outbox, now) => {
  const all = [];
  outbox.flush((piece) => all.push(piece), now);
  return all;
};

test('a megabyte goes out in pieces, none of them long, and nothing is lost', () => {
  const text = 'x'.repeat(1 << 20);
  const parts = pieces(text);
  assert.equal(parts.join(''), text);
  assert.ok(parts.every((part) => part.length <= 4096));
});

test('a character of two halves is never parted', () => {
  const text = `a${'😀'.repeat(5000)}가`;
  const parts = pieces(text);
  assert.equal(parts.join(''), text);
  assert.ok(parts.every((part) => part.isWellFormed()));
});

test('nothing typed is nothing sent', () => {
  assert.deepEqual(pieces(''), []);
});

test('what was typed without a connection is sent in order, once', () => {
  const outbox = new Outbox();
  outbox.put('l', 0);
  outbox.put('s', 10);
  assert.deepEqual(sent(outbox, 20), ['l', 's']);
  assert.deepEqual(sent(outbox, 30), []);
});

test('what was typed long ago is not sent', () => {
  const outbox = new Outbox();
  outbox.put('rm\r', 0);
  outbox.put('ls', 50_000);
  assert.deepEqual(sent(outbox, 60_000), ['ls']);
});

test('only so much is kept, but one paste is never cut', () => {
  const outbox = new Outbox();
  outbox.put('y'.repeat(1 << 20), 0);
  outbox.put('z', 0);
  assert.equal(sent(outbox, 0).join(''), 'y'.repeat(1 << 20));
});

test('pauses grow to a second, and start anew after a connection that held', () => {
  const backoff = new Backoff();
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map(() => backoff.next(0)), [100, 200, 400, 800, 1000, 1000, 1000]);
  backoff.opened(1000);
  assert.equal(backoff.next(1100), 1000, 'it fell at once');
  backoff.opened(2000);
  assert.equal(backoff.next(9000), 100);
});
