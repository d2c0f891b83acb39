// A real provider of OpenID Connect for the tests: people, groups, keys and the clock are set by requests to /control.
import { createServer } from 'node:http';
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import Provider from 'oidc-provider';

const [port, redirects, logouts] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const client = {
  client_id: 'glossator',
  client_secret: 'the secret of the client',
  redirect_uris: redirects.split(','),
  post_logout_redirect_uris: logouts.split(','),
};
const people = {}; // name in the form -> claims
const asked = {}; // path -> number of requests
let keyNumber = 0;
let signing;
let forged = null; // what the next ID token is made of instead
let lastIdToken = null;
let provider;
let handle;
let silent = false;

// A clock that goes wrong is wrong everywhere in this process.
let skew = 0;
const { now } = Date;
Date.now = () => now() + skew * 1000;

function turnKeys() {
  keyNumber += 1;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: `key ${keyNumber}`, use: 'sig', alg: 'RS256' };
  signing = { privateKey, publicKey, kid: jwk.kid };
  provider = new Provider(issuer, {
    clients: [client],
    jwks: { keys: [jwk] },
    cookies: { keys: ['signs the cookies of the provider'] },
    claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'groups'], email: ['email', 'email_verified'] },
    scopes: ['openid', 'profile', 'email'],
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        logoutSource: (ctx, form) => {
          const button = '<button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>';
          ctx.body = `<!doctype html><title>Office</title>${form}${button}`;
        },
      },
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) =>
      people[id] && { accountId: id, claims: (use) => ({ ...people[id][use], ...people[id].always, sub: id }) },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  });
  handle = provider.callback();
}

const encoded = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');

function forge(idToken) {
  const claims = { ...JSON.parse(Buffer.from(idToken.split('.')[1], 'base64url')), ...forged.claims };
  const alg = forged.alg ?? 'RS256';
  const unsigned = `${encoded({ alg, kid: forged.kid ?? signing.kid, typ: 'JWT' })}.${encoded(claims)}`;
  if (alg === 'none') return `${unsigned}.`;
  if (alg === 'HS256') {
    const secret = signing.publicKey.export({ format: 'pem', type: 'spki' });
    return `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`;
  }
  const key = forged.stranger ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey : signing.privateKey;
  return `${unsigned}.${createSign('RSA-SHA256').update(unsigned).sign(key, 'base64url')}`;
}

async function bodyOf(request) {
  let text = '';
  for await (const part of request) text += part;
  return text;
}

async function interact(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  const form = new URLSearchParams(request.method === 'POST' ? await bodyOf(request) : '');
  const finish = (result) => provider.interactionFinished(request, response, result);
  if (form.get('refuse')) return finish({ error: 'access_denied', error_description: 'The person refused.' });
  if (prompt.name === 'consent') {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    return finish({ consent: { grantId: await grant.save() } });
  }
  if (people[form.get('login')]) return finish({ login: { accountId: form.get('login') } });
  response.setHeader('content-type', 'text/html');
  return response.end(
    `<!doctype html><title>Office</title><form method="post"><label>Login <input name="login" autofocus></label>
     <button>Continue</button><button name="refuse" value="yes">Refuse</button></form>`,
  );
}

// Replaces the ID token in an answer of the token endpoint.
function withForgedToken(response) {
  const end = response.end.bind(response);
  response.end = (body, ...more) => {
    const answer = JSON.parse(body);
    if (answer.id_token) {
      lastIdToken = answer.id_token;
      if (forged) answer.id_token = forge(answer.id_token);
    }
    const text = JSON.stringify(answer);
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text, ...more);
  };
}

async function control(request, response) {
  const wanted = JSON.parse(await bodyOf(request));
  if (wanted.person) people[wanted.person] = wanted.claims;
  if (wanted.gone) delete people[wanted.gone];
  if (wanted.turnKeys) turnKeys();
  if ('skew' in wanted) skew = wanted.skew;
  if ('silent' in wanted) silent = wanted.silent;
  if ('forge' in wanted) forged = wanted.forge;
  response.end(JSON.stringify({ asked, lastIdToken, kid: signing.kid }));
}

turnKeys();
createServer(async (request, response) => {
  const { pathname } = new URL(request.url, issuer);
  response.setHeader('date', new Date(Date.now()).toUTCString());
  try {
    if (pathname === '/control') return await control(request, response);
    asked[pathname] = (asked[pathname] ?? 0) + 1;
    if (silent) return request.socket.destroy();
    if (pathname.startsWith('/interaction/')) return await interact(request, response);
    if (pathname === '/token') withForgedToken(response);
    return await handle(request, response);
  } catch (error) {
    response.statusCode = 500;
    return response.end(String(error));
  }
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
