import { appScopes, privateScopes } from '../src/access/scopes.ts'
import type { LoginRequestView } from '../src/services/accounts/login-request.ts'
import { MAX_CLIENT_ID, MAX_KEY_NAME, MAX_REDIRECT_URI } from '../src/values/limits.ts'
import { builder } from './builder.ts'
import { Scope } from './enums.ts'
import { mutation } from './mutation.ts'
import { Viewer, viewerField } from './viewer.ts'

const LoginRequest = builder.objectRef<LoginRequestView>('LoginRequest').implement({
  description:
    'A program that shows a code and waits for an API key. The details that it gives about itself are not verified.',
  fields: t => ({
    userCode: t.exposeString('userCode', { description: 'The code that the program shows.' }),
    name: t.exposeString('name', {
      description: 'What the program calls itself; the name of its key.',
    }),
    clientId: t.exposeString('clientId', {
      description: 'The id that the program claims to have.',
    }),
    scopes: t.expose('scopes', {
      type: [Scope],
      description: 'What its key may be used for.',
      listSize: appScopes.length,
    }),
    lifetime: t.exposeInt('lifetime', {
      description: 'The requested validity of its key, in seconds.',
    }),
    network: t.exposeString('network', {
      description:
        'The network of the program: an IPv4 address as its /24, an IPv6 address as its /48.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
  }),
})

builder.objectField(Viewer, 'loginRequest', t =>
  t.withAuth({ session: true }).field({
    type: LoginRequest,
    nullable: true,
    description:
      'The program that shows a code, for review before approval. Wrong codes count as guesses. For a session only.',
    args: { userCode: t.arg.string({ required: true, description: 'Its code.' }) },
    resolve: (_viewer, { userCode }, { services, address }) =>
      services.loginRequests.find(userCode, address),
  }),
)

mutation('approveLogin', {
  description:
    "Gives an API key to a program on the caller's computer, by a redirect to a loopback address (RFC 8252) with PKCE. First show the caller which program asks.",
  auth: { session: true },
  fails: ['INVALID_INPUT', 'INVALID_SCOPE', 'PROOF_NEEDED', 'QUOTA_EXCEEDED', 'RATE_LIMITED'],
  places: {
    client_id: 'clientId',
    client_name: 'clientName',
    redirect_uri: 'redirectUri',
    code_challenge: 'codeChallenge',
    scope: 'scopes',
    key_expires_in: 'keyExpiresIn',
  },
  rateLimit: 'api_keys',
  input: t => ({
    clientId: t.string({
      required: true,
      description: `Which program it is: 1 to ${MAX_CLIENT_ID} characters.`,
    }),
    clientName: t.string({ description: `The name of its key: 1 to ${MAX_KEY_NAME} characters.` }),
    redirectUri: t.string({
      required: true,
      description: `http://127.0.0.1:PORT/ or http://[::1]:PORT/, with a path or without: up to ${MAX_REDIRECT_URI} characters.`,
    }),
    codeChallenge: t.string({
      required: true,
      description: 'The challenge of PKCE, by the method S256.',
    }),
    scopes: t.field({
      type: [Scope],
      required: true,
      maxItems: privateScopes.length,
      description: 'What the key may be used for: scopes of private files.',
    }),
    keyExpiresIn: t.string({
      description: 'How long the key is valid: a duration such as 90d, the default; up to 365d.',
    }),
    state: t.string({ description: 'Returned to the program unchanged.' }),
  }),
  resolve: async (input, { services, caller }) => ({
    redirectUrl: await services.loginRequests.approveInput(caller, input),
  }),
  payload: t => ({
    redirectUrl: t.exposeString('redirectUrl', {
      description: 'The URL to which the browser must redirect within a minute.',
    }),
    viewer: viewerField(t),
  }),
})

const userCode = { required: true, description: 'The code that the program shows.' } as const

mutation('approveDeviceLogin', {
  description:
    'Gives an API key to the program that shows a code (RFC 8628). First show the caller which program asks, and from which network, because others may have sent them the code.',
  auth: { session: true },
  fails: [
    'INVALID_INPUT',
    'INVALID_DURATION',
    'LOGIN_REQUEST_NOT_FOUND',
    'TOO_MANY_ATTEMPTS',
    'PROOF_NEEDED',
    'QUOTA_EXCEEDED',
    'RATE_LIMITED',
  ],
  places: { key_expires_in: 'keyExpiresIn' },
  rateLimit: 'api_keys',
  input: t => ({
    userCode: t.string(userCode),
    keyExpiresIn: t.string({
      description: 'How long the key is valid; by default, as long as the program asks.',
    }),
  }),
  resolve: async ({ userCode, keyExpiresIn }, { services, caller, address }) => ({
    loginRequest: await services.loginRequests.approveDevice(
      caller,
      { userCode, address },
      keyExpiresIn,
    ),
  }),
  payload: t => ({
    loginRequest: t.expose('loginRequest', {
      type: LoginRequest,
      description: 'The approved request.',
    }),
    viewer: viewerField(t),
  }),
})

mutation('refuseDeviceLogin', {
  description: 'Refuses the program that shows a code.',
  auth: { session: true },
  fails: ['LOGIN_REQUEST_NOT_FOUND', 'TOO_MANY_ATTEMPTS'],
  input: t => ({ userCode: t.string(userCode) }),
  resolve: async ({ userCode }, { services, caller, address }) => ({
    loginRequest: await services.loginRequests.refuseDevice(caller, { userCode, address }),
  }),
  payload: t => ({
    loginRequest: t.expose('loginRequest', {
      type: LoginRequest,
      description: 'The refused request.',
    }),
    viewer: viewerField(t),
  }),
})
