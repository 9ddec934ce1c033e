import assert from 'node:assert/strict';
import test from 'node:test';

import { commandLines, isForShell } from '../../lab/web/static/commands.js';

const typed = (code) => commandLines(code).map((line) => line.typed);

test('each line of a block is a command of its own', () => {
  assert.deepEqual(commandLines('kubectl get nodes\nkubectl get pods\n'), [
    { text: 'kubectl get nodes', typed: 'kubectl get nodes' },
    { text: 'kubectl get pods', typed: 'kubectl get pods' },
  ]);
});

test('a line that goes on is typed whole, by its first line', () => {
  assert.deepEqual(typed('kubectl get \\\n  nodes \\\n  -o wide\nls'), ['kubectl get nodes -o wide', null, null, 'ls']);
});

test('a backslash that is itself escaped joins nothing', () => {
  assert.deepEqual(typed('echo a\\\\\nls'), ['echo a\\\\', 'ls']);
});

test('empty lines and comments are not typed, and a prompt sign is left out', () => {
  assert.deepEqual(typed('# look\n\n$ ls'), [null, null, 'ls']);
});

test('nothing that needs newlines is typed', () => {
  for (const code of ['cat > a <<EOF\nx\nEOF', "cat <<-'EOF'\nx\nEOF", 'echo "a\nb"', "echo 'a\nb'"]) {
    assert.ok(typed(code).every((one) => one === null), code);
  }
});

test('quotes that close, and a quote in the other kind, are fine', () => {
  assert.deepEqual(typed(`echo "it's" 'a "b"' \\"`), [`echo "it's" 'a "b"' \\"`]);
});

test('what is typed never holds a newline or a carriage return', () => {
  const code = 'a \\\nb\nc <<<"x"\n# d\n\n  e \\\n\\\n f\n';
  assert.ok(typed(code).every((one) => one === null || !/[\r\n]/.test(one)));
});

test('a here-string is one line', () => {
  assert.deepEqual(typed('cat <<<"x"'), ['cat <<<"x"']);
});

test('yaml is no command', () => {
  assert.equal(isForShell('yaml'), false);
  assert.equal(isForShell('sh'), true);
  assert.equal(isForShell(''), false);
  assert.equal(isForShell('text'), false);
});
