// The REST interface. A call names a path of the OpenAPI document and is checked against it:
// get('/projects/{project_id}', { project_id }). Every failure becomes an ApiError whose message is one sentence for a
// person.

import { isAway } from './presence.js';
import { EDITION, ROOT } from './root.js';

/** @import { Answer, Body, Path, RequestOptions, Values } from '../types' */

/** The event of the document after an answer of a server of another edition than the page. */
export const UPGRADED = 'glossator-upgraded';
/** The event of the document after an answer that nobody is logged in, or somebody else than the page's person. */
export const LOGGED_OUT = 'glossator-logged-out';
/** The event of the document after the first answer of success since then. */
export const LOGGED_IN = 'glossator-logged-in';
/** The event of the document when the person wants to log in again. */
export const LOG_IN = 'glossator-log-in';

export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status 0: the server could not be reached
   * @param {unknown} [body] what the server answered
   * @param {number} [wait] seconds after which it may be tried again, where the server says so
   */
  constructor(message, status, body = null, wait = 0) {
    super(message);
    this.status = status;
    this.body = body;
    this.wait = wait;
  }
}

/**
 * The status of a failure: 0 where the server could not be reached, null where it is another error.
 *
 * @param {unknown} error
 */
export const statusOf = (error) => (error instanceof ApiError ? error.status : null);

/**
 * The sentence of whatever was thrown.
 *
 * @param {unknown} error
 */
export const sentenceOf = (error) => (error instanceof Error ? error.message : String(error));

// A line that is cut says nothing, so time ends every request; an upload tells its progress, and takes as long as it
// takes.
const SEND_MILLISECONDS = 30_000;
const READ_MILLISECONDS = 60_000;
const THINK_MILLISECONDS = 180_000; // of all else: the model may have to read a long document first
const UNREACHABLE = 'The server cannot be reached. Your edits are kept in this browser and saved later.';

/**
 * The server's own sentence, where it has said one.
 *
 * @param {unknown} body
 */
export function detailOf(body) {
  const detail = typeof body === 'object' && body && 'detail' in body ? body.detail : null;
  return typeof detail === 'string' ? detail : null;
}

/**
 * @param {number} status
 * @param {unknown} body
 */
function sentence(status, body) {
  const detail = detailOf(body);
  if (detail !== null) return detail;
  if (status === 401) return 'Your session has ended. Log in again in another tab; your edits are kept here.';
  if (status === 404) return 'This item no longer exists. Reload the page.';
  if (status === 413) return 'The file is larger than this server accepts. Upload a smaller one.';
  if (status >= 500) return `The server failed (${status}). Try again; if it still fails, tell the administrator.`;
  return `The server refused the request (${status}). Reload the page and try again.`;
}

/**
 * null for what is no JSON: an empty answer, or that of something between the server and here.
 *
 * @param {string} text
 * @returns {unknown}
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * The address of a call: names in the path are filled in, all other values become the query.
 *
 * @param {string} path
 * @param {unknown} values
 */
export function addressOf(path, values) {
  const query = new URLSearchParams(),
    known = new Map(Object.entries(Object(values)));
  const named = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  for (const [name, value] of known) {
    if (named.has(name) || value === null || value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
  }
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(known.get(name))));
  return `${ROOT}/api${filled}${query.size ? `?${query}` : ''}`;
}

/**
 * @param {string} method
 * @param {string} address
 * @param {unknown} body sent as JSON; undefined sends none
 * @param {RequestOptions} [options]
 * @returns {Promise<unknown>}
 */
const request = async (method, address, body, options) => (await exchange(method, address, body, options)).answer;

/**
 * @param {string} method
 * @param {string} address
 * @param {unknown} body
 * @param {RequestOptions} [options]
 * @returns {Promise<{ answer: unknown, headers: Headers }>}
 */
function exchange(method, address, body, options) {
  const exchanged = send(method, address, body, options);
  if (method !== 'GET') {
    writes.add(exchanged);
    const end = () => void writes.delete(exchanged);
    exchanged.then(end, end);
  }
  return exchanged;
}

/** @type {Set<Promise<unknown>>} writing requests that are under way */
const writes = new Set();
const LOOK = 50; // milliseconds between two looks at them; one that follows another is there by then

/**
 * Resolves when no writing request is under way, and none follows at once.
 *
 * @param {number} most milliseconds to wait
 */
export async function writesEnd(most) {
  const end = Date.now() + most;
  while (writes.size && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
}

/** @type {string | null} id of the person whose page this is */
let person = null;
let loginEnded = false; // as the last answer that tells says

/** @param {Response} response */
function noteLogin({ status, ok }) {
  if (status === 401) globalThis.document?.dispatchEvent(new Event(LOGGED_OUT));
  else if (ok && loginEnded) globalThis.document?.dispatchEvent(new Event(LOGGED_IN));
  if (ok || status === 401) loginEnded = !ok;
}

/**
 * From here on the server refuses (401) what this page asks while somebody else is logged in.
 *
 * @param {string} id
 */
export function actAs(id) {
  person = id;
}

/**
 * What the page asks by itself keeps no login alive.
 *
 * @returns {Record<string, string>}
 */
const headersOfPresence = () => (isAway() ? { 'X-Glossator-Background': '1' } : {});

/** @returns {Record<string, string>} */
const headersOfPage = () => ({
  ...headersOfPresence(),
  ...(person === null ? {} : { 'X-Glossator-User': person }),
});

/**
 * @param {string} method
 * @param {string} address
 * @param {unknown} body
 * @param {RequestOptions} [options]
 * @returns {Promise<{ answer: unknown, headers: Headers }>}
 */
async function send(method, address, body, { signal, keepalive, headers: more = {} } = {}) {
  /** @type {Record<string, string>} */
  const headers = { ...(method === 'GET' ? {} : { 'X-Glossator': '1' }), ...headersOfPage(), ...more };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  signal ??= AbortSignal.timeout(method === 'GET' ? READ_MILLISECONDS : THINK_MILLISECONDS);
  const sent = body === undefined ? undefined : JSON.stringify(body);
  let response, text;
  try {
    response = await fetch(address, { method, headers, signal, keepalive, body: sent });
    text = await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(UNREACHABLE, 0);
  }
  const edition = response.headers.get('X-Glossator-Edition');
  if (EDITION && edition && edition !== EDITION) document.dispatchEvent(new Event(UPGRADED));
  const answer = parsed(text);
  noteLogin(response);
  if (!response.ok) {
    const wait = Number(response.headers.get('Retry-After')) || 0;
    throw new ApiError(sentence(response.status, answer), response.status, answer, wait);
  }
  return { answer, headers: response.headers };
}

/**
 * @template {Path<'get'>} P
 * @param {P} path
 * @param {Values<'get', P>} values
 * @param {RequestOptions} [options]
 */
export const get = async (path, values, options) =>
  /** @type {Answer<'get', P>} */ (await request('GET', addressOf(path, values), undefined, options));

/**
 * A page of a list: its items, the number of those on all pages, and the cursor of the page behind, null on the last.
 *
 * @template {Path<'get'>} P
 * @param {P} path
 * @param {Values<'get', P>} values
 */
export async function getPage(path, values) {
  const { answer, headers } = await exchange('GET', addressOf(path, values), undefined);
  return {
    items: /** @type {Answer<'get', P>} */ (answer),
    total: Number(headers.get('X-Total-Count')),
    next: cursorIn(headers),
  };
}

/**
 * The cursor of the page behind; null on the last page.
 *
 * @param {Headers} headers
 */
function cursorIn(headers) {
  const [, following] = /<([^>]*)>;\s*rel="next"/.exec(headers.get('Link') ?? '') ?? [];
  return following ? new URL(following, location.href).searchParams.get('cursor') : null;
}

/**
 * All items of a list that fits on a few pages, as people and projects do.
 *
 * @template {Path<'get'>} P
 * @param {P} path
 * @param {Values<'get', P>} values
 */
export async function getAll(path, values) {
  const all = [];
  /** @type {string | null} */
  let cursor = null;
  do {
    const asked = { ...Object(values), cursor };
    const { answer, headers } = await exchange('GET', addressOf(path, asked), undefined);
    all.push(.../** @type {unknown[]} */ (answer));
    cursor = cursorIn(headers);
  } while (cursor !== null);
  return /** @type {Answer<'get', P>} */ (all);
}

/**
 * @template {Path<'post'>} P
 * @param {P} path
 * @param {Values<'post', P>} values
 * @param {Body<'post', P>} body
 * @param {RequestOptions} [options]
 */
export const post = async (path, values, body, options) =>
  /** @type {Answer<'post', P>} */ (await request('POST', addressOf(path, values), body, options));

/**
 * @template {Path<'put'>} P
 * @param {P} path
 * @param {Values<'put', P>} values
 * @param {Body<'put', P>} body
 * @param {RequestOptions} [options]
 */
export const put = async (path, values, body, options) =>
  /** @type {Answer<'put', P>} */ (await request('PUT', addressOf(path, values), body, options));

/**
 * @template {Path<'patch'>} P
 * @param {P} path
 * @param {Values<'patch', P>} values
 * @param {Body<'patch', P>} body
 * @param {RequestOptions} [options]
 */
export const patch = async (path, values, body, options) =>
  /** @type {Answer<'patch', P>} */ (await request('PATCH', addressOf(path, values), body, options));

/**
 * DELETE.
 *
 * @template {Path<'delete'>} P
 * @param {P} path
 * @param {Values<'delete', P>} values
 * @param {RequestOptions} [options]
 */
export const remove = async (path, values, options) =>
  /** @type {Answer<'delete', P>} */ (await request('DELETE', addressOf(path, values), undefined, options));

/**
 * An edit is its author's, whoever has logged in in another tab meanwhile. It is small, and sent again where no answer
 * comes.
 *
 * @param {string} user
 * @returns {RequestOptions}
 */
export const byAuthor = (user) => ({
  headers: { 'X-Glossator-User': user },
  signal: AbortSignal.timeout(SEND_MILLISECONDS),
});

/**
 * What is fetched past REST, with the same limit. Rejects with a DOMException or TypeError.
 *
 * @param {string} address
 */
export const fetchWithin = (address) =>
  fetch(address, { headers: headersOfPresence(), signal: AbortSignal.timeout(THINK_MILLISECONDS) });

/**
 * With the version of the image the browser keeps it for ever: a page that is turned has another.
 *
 * @param {string} page
 * @param {string} version
 */
export const imageAddress = (page, version) => `${ROOT}/api/pages/${page}/image?version=${version}`;

/**
 * @param {string} page
 * @param {string} version of its image
 * @param {number} [width] pixels
 */
export const thumbnailAddress = (page, version, width = 160) =>
  `${ROOT}/api/pages/${page}/thumbnail?width=${width}&version=${version}`;

/**
 * The last line that has come to its end; an error's answer, which is no line, is one.
 *
 * @param {string} text
 */
function lastLine(text) {
  const end = text.lastIndexOf('\n');
  return end < 0 ? text : text.slice(text.lastIndexOf('\n', end - 1) + 1, end);
}

const CUT =
  'The connection was lost. The server may still be working: check the result later, and send the file again if needed.';

/**
 * Sends one file. (fetch tells nothing about what has been sent, so XMLHttpRequest it is.)
 *
 * @param {string} address
 * @param {string} field
 * @param {File} file
 * @param {(share: number) => void} progress hears shares 0..1
 * @param {object} [how]
 * @param {(answer: unknown) => boolean} [how.accepts] whether an answer of no success is one about the file, and no
 *   failure of the request
 * @param {(line: unknown) => void} [how.step] hears each line of an answer that comes line by line; the last one is
 *   resolved to
 * @returns {Promise<unknown>}
 */
export function sendFile(address, field, file, progress, { accepts = () => false, step } = {}) {
  return new Promise((resolve, reject) => {
    const sender = new XMLHttpRequest();
    sender.open('POST', address);
    for (const [name, value] of Object.entries({ 'X-Glossator': '1', ...headersOfPage() }))
      sender.setRequestHeader(name, value);
    sender.responseType = step ? 'text' : 'json';
    const answered = () => (step ? parsed(lastLine(sender.responseText)) : sender.response);
    let sent = false;
    sender.upload.onload = () => (sent = true);
    sender.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
    if (step) sender.onprogress = () => sender.status < 300 && step(answered() ?? {});
    sender.onload = () => {
      const answer = answered(),
        { status } = sender;
      if (status < 300 || accepts(answer)) resolve(answer);
      else
        reject(
          new ApiError(sentence(status, answer), status, answer, Number(sender.getResponseHeader('Retry-After')) || 0),
        );
    };
    sender.onerror = () =>
      reject(new ApiError(step && sent ? CUT : 'The server cannot be reached. Try the upload again.', 0));
    const form = new FormData();
    form.append(field, file, file.name);
    sender.send(form);
  });
}

/**
 * Sends a document; 422 with "refused" says what is wrong with it.
 *
 * @param {string} project
 * @param {File} file
 * @param {(share: number) => void} progress
 */
export const upload = async (project, file, progress) =>
  /** @type {Answer<'post', '/projects/{project_id}/documents'>} */ (
    await sendFile(
      addressOf('/projects/{project_id}/documents', { project_id: project, early: true }),
      'files',
      file,
      progress,
      {
        accepts: (answer) =>
          typeof answer === 'object' && answer !== null && 'refused' in answer && Boolean(answer.refused),
      },
    )
  );
