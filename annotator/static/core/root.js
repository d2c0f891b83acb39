// The path under which Glossator is served, as in "/gloss"; empty where it has a host name of its own. Every address
// that a module names begins with it, and so do names of what a browser keeps for a whole host.

export const ROOT = globalThis.document?.querySelector?.('meta[name=glossator-root]')?.getAttribute('content') ?? '';
