// The REST interface. Every failure becomes an ApiError whose message is one sentence for a person.

export class ApiError extends Error {
  // status 0: the server could not be reached.
  constructor(message, status, body = null) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

const UNREACHABLE = 'The server cannot be reached. Your edits are kept in this browser until it answers again.';

function sentence(status, body) {
  if (typeof body?.detail === 'string') return body.detail;
  if (status === 401) return 'You are not logged in any more. Log in again in another tab; your edits are kept here.';
  if (status === 404) return 'That is not there any more. It may have been removed.';
  if (status === 413) return 'The file is too large for this server.';
  if (status >= 500) return `The server made a mistake (${status}). Try again; if it stays, tell whoever runs it.`;
  return `The server refused the request (${status}).`;
}

export async function request(method, path, body, { signal } = {}) {
  const headers = method === 'GET' ? {} : { 'X-Glossator': '1' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(`/api${path}`, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(UNREACHABLE, 0);
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(sentence(response.status, answer), response.status, answer);
  return answer;
}

export const get = (path, options) => request('GET', path, undefined, options);
export const post = (path, body, options) => request('POST', path, body, options);
export const put = (path, body, options) => request('PUT', path, body, options);

export const imageAddress = (page) => `/api/pages/${page}/image`;
export const thumbnailAddress = (page, width = 160) => `/api/pages/${page}/thumbnail?width=${width}`;

// Sends one file; `progress` hears shares 0..1. (fetch tells nothing about what has been sent, so XMLHttpRequest it is.)
export function upload(project, file, progress) {
  return new Promise((resolve, reject) => {
    const sender = new XMLHttpRequest();
    sender.open('POST', `/api/projects/${project}/documents`);
    sender.setRequestHeader('X-Glossator', '1');
    sender.responseType = 'json';
    sender.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
    sender.onload = () => {
      // 422 with "refused" is an answer about the file, not a failure of the request.
      if (sender.status < 300 || sender.response?.refused) resolve(sender.response);
      else reject(new ApiError(sentence(sender.status, sender.response), sender.status));
    };
    sender.onerror = () => reject(new ApiError('The server cannot be reached. Try the upload again.', 0));
    const form = new FormData();
    form.append('files', file, file.name);
    sender.send(form);
  });
}
