// Calls to the server. Every one carries the XSRF token, since a hub asks for it on GET, too.

import { t } from './words.js';

const body = () => document.body.dataset;
let language = '';

/** What the server said no to: its sentence, and what to do next; status 0 is no answer. */
export class ApiError extends Error {
  constructor(status, answer) {
    super(answer.error ?? t(status === 403 ? 'log_in_again' : 'server_trouble', { status }));
    this.status = status;
    this.next = answer.next ?? '';
  }
}

/** What a call that failed says, with what to do next. */
export function toldBy({ message, next }) {
  return [message, next].filter(Boolean).join(' ');
}

/** The language of all calls from here on. */
export function speak(chosen) {
  language = chosen;
}

/** The full address of something below the server's base; `ws:` for a websocket. */
export function address(path, { query = {}, socket = false } = {}) {
  const url = new URL(body().base + path, location.href);
  if (socket) url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  Object.entries(query).forEach(([name, value]) => url.searchParams.set(name, value));
  return url.href;
}

/** The address of the event stream; EventSource sends no headers, so the token stands in it. */
export function streamAddress() {
  return address('learn/api/stream', { query: { lang: language, _xsrf: body().xsrf } });
}

export const get = (path, query = {}) => call('GET', path, query);
export const post = (path, data, within = 0) => call('POST', path, {}, data, within);

/** A browser's own words for it are neither the reader's nor of use. */
function unanswered(error) {
  const said = t('not_linked');
  throw new ApiError(0, { error: said === 'not_linked' ? error.message : said });
}

async function call(method, path, query, data, within) {
  const answer = await fetch(address(`learn/api/${path}`, { query: { lang: language, ...query } }), {
    method,
    headers: { 'Content-Type': 'application/json', 'X-XSRFToken': body().xsrf },
    body: data === undefined ? undefined : JSON.stringify(data),
    signal: within ? AbortSignal.timeout(within) : undefined,
    redirect: 'manual', // a login page is no answer
  }).catch(unanswered);
  if (answer.type === 'opaqueredirect') throw new ApiError(403, {});
  const text = await answer.text().catch(unanswered);
  let parsed = {};
  try {
    parsed = JSON.parse(text);
  } catch { /* a proxy's own page: the status says enough */ }
  if (!answer.ok) throw new ApiError(answer.status, parsed);
  return parsed;
}
