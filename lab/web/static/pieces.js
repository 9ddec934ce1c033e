// Long input goes out in pieces, so that no message is over the server's limit.

export const PIECE = 4096; // UTF-16 units; at most 12 KB on the wire

/** The text in pieces of at most `size`, never parting the two halves of one character. */
export function pieces(text, size = PIECE) {
  const made = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + size, text.length);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last <= 0xdbff) to -= 1;
    made.push(text.slice(from, to));
    from = to;
  }
  return made;
}
