import type { Area } from '../../schema/plugins/rest.ts'
import type { Operation, Parameter } from './operation.ts'
import { type Refusals, redirect, success } from './response.ts'
import { objectOf, type Schema } from './schema.ts'

/**
 * The sign-in routes are not fields of the schema, so their inputs and responses are described
 * here: contract, section 5.
 */

export const authArea: Area = { name: 'auth', description: 'Signing in and out.' }

const text: Schema = { type: 'string' }
const query = (name: string, description: string): Parameter => ({
  name,
  in: 'query',
  description,
  schema: text,
})

const returnTo = {
  ...query('return_to', 'The path of this service to return to.'),
  example: '/api/docs',
}
const anybody: Operation['security'] = [{}, { session: [] }]

const userInfo = objectOf({
  sub: { ...text, description: 'Id of the account.' },
  email: text,
  email_verified: { type: 'boolean' },
  name: text,
  picture: text,
})

const validity: Schema = {
  oneOf: [
    objectOf({
      authenticated: { type: 'boolean', enum: [true] },
      user_info: userInfo,
      via: { type: 'string', enum: ['session', 'api_key'] },
      expires_at: { type: 'string', format: 'date-time', nullable: true },
    }),
    objectOf({
      authenticated: { type: 'boolean', enum: [false] },
      user_info: { type: 'string', nullable: true, enum: [null] },
    }),
  ],
}

const validityExample = {
  authenticated: true,
  user_info: {
    sub: '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44',
    email: 'alice@example.org',
    email_verified: true,
    name: 'Alice Example',
    picture: 'https://example.org/alice.png',
  },
  via: 'session',
  expires_at: '2026-01-31T12:00:00.000Z',
}

const logout = ({ refusalOf, anywhere }: Refusals): Omit<Operation, 'operationId'> => ({
  tags: [authArea.name],
  summary: 'Ends the session',
  description:
    'Ends the session, on every instance at once. Without a session, the answer is the same.',
  responses: {
    200: success(objectOf({ logout_successful: { type: 'boolean', enum: [true] } }), {
      logout_successful: true,
    }),
    403: refusalOf(403, ['FORBIDDEN']),
    ...anywhere(),
  },
  security: anybody,
})

/** The operations below /auth, by path and method. */
export function authPaths(refusals: Refusals): Record<string, Record<string, Operation>> {
  const { refusalOf, anywhere } = refusals
  return {
    '/auth/oauth': {
      get: {
        operationId: 'signIn',
        tags: [authArea.name],
        summary: 'Redirects to a sign-in provider',
        description:
          'Redirects to a sign-in provider. A caller who is signed in signs in again; to add an identity to the account, use the page /identities.',
        parameters: [
          query('provider', 'The name of the provider; by default the first configured one.'),
          returnTo,
          query(
            'link',
            'The token that the page /identities sends to add an identity to the account.',
          ),
        ],
        responses: {
          302: redirect('To the provider.'),
          400: refusalOf(400, ['INVALID_INPUT']),
          ...anywhere(),
        },
        security: anybody,
      },
    },
    '/auth/callback': {
      get: {
        operationId: 'completeSignIn',
        tags: [authArea.name],
        summary: 'Completes a sign-in',
        description:
          'The provider redirects here. Sets the session cookie and redirects to `return_to`, or to the public URL; after a failure ' +
          'with `?error=invalid_state`, `auth_failed`, `identity_taken`, `email_unverified`, `sign_up_closed` or `provider_unavailable`.',
        parameters: [
          query('code', 'From the provider.'),
          query('state', 'As it was sent to the provider.'),
          query('error', 'From the provider, when it refuses.'),
          query('iss', 'The issuer, from a provider that names it.'),
        ],
        responses: {
          302: redirect('To the page where the sign-in began.'),
          400: refusalOf(400, ['INVALID_INPUT']),
          ...anywhere(),
        },
        security: anybody,
      },
    },
    '/auth/is_valid': {
      get: {
        operationId: 'sessionInfo',
        tags: [authArea.name],
        summary: 'Identifies the caller',
        description:
          'Identifies the caller, and says until when the credential is valid. Works without a credential, too.',
        responses: { 200: success(validity, validityExample), ...anywhere() },
        security: [...anybody, { apiKey: [] }],
      },
    },
    '/auth/logout': {
      get: {
        operationId: 'signOut',
        ...logout(refusals),
        responses: {
          ...logout(refusals).responses,
          303: redirect(
            'To a page that asks first, if the request comes from a link on another site.',
          ),
        },
      },
      post: { operationId: 'signOutByPost', ...logout(refusals) },
    },
    '/auth/sign_out': {
      get: {
        operationId: 'signOutAtProvider',
        tags: [authArea.name],
        summary: 'Leads to the sign-out of the provider',
        description:
          'For a browser whose session has ended. If its provider is an OpenID Connect provider with `OAUTH_<NAME>_SIGN_OUT`, answers with a page that leads there.',
        parameters: [returnTo],
        responses: {
          200: {
            description: 'A page that leads to the provider, with the header `Refresh`.',
            content: { 'text/html': { schema: text } },
          },
          303: redirect(
            'To `return_to`, or to the public URL, where there is nothing to sign out of.',
          ),
          ...anywhere(),
        },
        security: [{}],
      },
    },
    '/auth/backchannel_logout': {
      post: {
        operationId: 'backChannelLogout',
        tags: [authArea.name],
        summary: 'Ends the sessions that a provider names',
        description: 'For OpenID Connect providers (Back-Channel Logout 1.0).',
        requestBody: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': {
              schema: objectOf({ logout_token: text }),
              example: { logout_token: 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln' },
            },
          },
        },
        responses: {
          200: success(objectOf({ sessions_ended: { type: 'integer' } }), { sessions_ended: 1 }),
          400: refusalOf(400, ['INVALID_INPUT']),
          ...anywhere(),
        },
        security: [{}],
      },
    },
    '/auth/providers': {
      get: {
        operationId: 'signInProviders',
        tags: [authArea.name],
        summary: 'Lists the sign-in providers',
        responses: {
          200: success(
            { type: 'object', additionalProperties: { type: 'boolean', enum: [true] } },
            { google: true },
          ),
          ...anywhere(),
        },
        security: [{}],
      },
    },
    '/auth/{provider}/login': {
      get: {
        operationId: 'signInWith',
        tags: [authArea.name],
        summary: 'Redirects to one sign-in provider',
        parameters: [
          {
            name: 'provider',
            in: 'path',
            required: true,
            description: 'Its name.',
            schema: text,
            example: 'google',
          },
          returnTo,
        ],
        responses: {
          302: redirect('To `/auth/oauth?provider={provider}`.'),
          400: refusalOf(400, ['INVALID_INPUT']),
          ...anywhere(),
        },
        security: [{}],
      },
    },
  }
}
