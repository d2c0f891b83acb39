// The path under which Glossator is served, as in "/gloss"; empty where it has a host name of its own. Every address
// that a module names begins with it, and so do names of what a browser keeps for a whole host.

const said = globalThis.document?.querySelector?.('meta[name=glossator-root]');

export const ROOT = said?.getAttribute('content') ?? '';

/** Names the content of the front end's files, as every answer does; null outside the page. */
export const EDITION = said?.getAttribute('data-edition') ?? null;
