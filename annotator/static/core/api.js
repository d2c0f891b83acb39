// The REST interface. Every failure becomes an ApiError whose message is one sentence for a person.

export class ApiError extends Error {
  // status 0: the server could not be reached.
  constructor(message, status, body = null) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

// A line that is cut says nothing, so time ends every request; an upload tells its progress, and takes as long as it takes.
const SEND_MILLISECONDS = 30_000;
const READ_MILLISECONDS = 60_000;
const THINK_MILLISECONDS = 180_000; // of all else: the model may have to read a long document first
const UNREACHABLE = 'The server cannot be reached. Your edits are kept in this browser and saved later.';

function sentence(status, body) {
  if (typeof body?.detail === 'string') return body.detail;
  if (status === 401) return 'Your session has ended. Log in again in another tab; your edits are kept here.';
  if (status === 404) return 'This item no longer exists. Reload the page.';
  if (status === 413) return 'The file is larger than this server accepts. Upload a smaller one.';
  if (status >= 500) return `The server failed (${status}). Try again; if it still fails, tell the administrator.`;
  return `The server refused the request (${status}). Reload the page and try again.`;
}

// null for what is no JSON: an empty answer, or that of something between the server and here.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// signal: ends the request; else time does. keepalive: the request outlives the page that sends it.
export async function request(method, path, body, { signal, keepalive, headers: more = {} } = {}) {
  const headers = method === 'GET' ? { ...more } : { 'X-Glossator': '1', ...more };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  signal ??= AbortSignal.timeout(method === 'GET' ? READ_MILLISECONDS : THINK_MILLISECONDS);
  let response, text;
  try {
    response = await fetch(`/api${path}`, {
      method,
      headers,
      signal,
      keepalive,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    text = await response.text();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(UNREACHABLE, 0);
  }
  const answer = parsed(text);
  if (!response.ok) throw new ApiError(sentence(response.status, answer), response.status, answer);
  return answer;
}

export const get = (path, options) => request('GET', path, undefined, options);
export const post = (path, body, options) => request('POST', path, body, options);
export const put = (path, body, options) => request('PUT', path, body, options);

// An edit is its author's, whoever has logged in in another tab meanwhile. It is small, and sent again where no answer comes.
export const byAuthor = (user) => ({
  headers: { 'X-Glossator-User': user },
  signal: AbortSignal.timeout(SEND_MILLISECONDS),
});

// What is fetched past REST, with the same limit. Rejects with a DOMException or TypeError.
export const fetchWithin = (address) => fetch(address, { signal: AbortSignal.timeout(THINK_MILLISECONDS) });

export const imageAddress = (page) => `/api/pages/${page}/image`;
export const thumbnailAddress = (page, width = 160) => `/api/pages/${page}/thumbnail?width=${width}`;

// The last line that has come to its end; an error's answer, which is no line, is one.
function lastLine(text) {
  const end = text.lastIndexOf('\n');
  return end < 0 ? text : text.slice(text.lastIndexOf('\n', end - 1) + 1, end);
}

const CUT =
  'The connection was lost. The server may still be working: check the result later, and send the file again if needed.';

// Sends one file; `progress` hears shares 0..1. (fetch tells nothing about what has been sent, so XMLHttpRequest it is.)
// accepts(answer): whether an answer of no success is one about the file, and no failure of the request. step(line): hears each line of an
// answer that comes line by line; the last one is resolved to.
export function sendFile(path, field, file, progress, { accepts = () => false, step } = {}) {
  return new Promise((resolve, reject) => {
    const sender = new XMLHttpRequest();
    sender.open('POST', `/api${path}`);
    sender.setRequestHeader('X-Glossator', '1');
    sender.responseType = step ? 'text' : 'json';
    const answered = () => (step ? parsed(lastLine(sender.responseText)) : sender.response);
    let sent = false;
    sender.upload.onload = () => (sent = true);
    sender.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
    if (step) sender.onprogress = () => sender.status < 300 && step(answered() ?? {});
    sender.onload = () => {
      const answer = answered();
      if (sender.status < 300 || accepts(answer)) resolve(answer);
      else
        reject(
          Object.assign(new ApiError(sentence(sender.status, answer), sender.status), {
            wait: Number(sender.getResponseHeader('Retry-After')),
          }),
        );
    };
    sender.onerror = () =>
      reject(new ApiError(step && sent ? CUT : 'The server cannot be reached. Try the upload again.', 0));
    const form = new FormData();
    form.append(field, file, file.name);
    sender.send(form);
  });
}

// Sends a document; 422 with "refused" says what is wrong with it.
export const upload = (project, file, progress) =>
  sendFile(`/projects/${project}/documents?early=true`, 'files', file, progress, {
    accepts: (answer) => Boolean(answer?.refused),
  });
