import { z } from 'zod'
import type { OAuthProvider } from './provider.ts'
import { presets } from './provider-preset.ts'

const url = z.url({ protocol: /^https?$/ })
const issuer = url
  .refine(text => !/[?#]/.test(text), 'must be a URL without a query and a fragment')
  // Discovery compares issuers as texts, and most providers write their issuer without a trailing
  // slash.
  .transform(text => text.replace(/\/$/, ''))
const hostName = /^[a-z\d]([a-z\d.-]*[a-z\d])?(:\d{1,5})?$/i

/** The settings of each provider, as OAUTH_<NAME>_<field>. */
export const providerField = {
  CLIENT_ID: { help: 'client id of the provider <NAME>', read: z.string().min(1) },
  CLIENT_SECRET: { help: 'client secret of the provider <NAME>', read: z.string().min(1) },
  ISSUER: {
    help: 'issuer of the OpenID Connect provider <NAME>; the URLs come from its discovery',
    read: issuer,
  },
  AUTHORIZE_URL: { help: 'authorize URL of a provider without an issuer', read: url },
  TOKEN_URL: { help: 'token URL of a provider without an issuer', read: url },
  USERINFO_URL: { help: 'userinfo URL of a provider without an issuer', read: url },
  SCOPES: { help: 'scopes requested from the provider', read: z.string().min(1) },
  SIGN_OUT: {
    help: 'true: people who sign out of Satchel sign out of the OpenID Connect provider, too',
    read: z.enum(['true', 'false']),
  },
  TENANT: {
    help: 'MICROSOFT only: id or domain of the tenant, or common, organizations or consumers',
    read: z
      .string()
      .regex(/^[a-z\d][a-z\d.-]*$/i, 'must be the id or a domain of a tenant, or common'),
  },
  HOST: {
    help: 'GITHUB and GITLAB only: host name of your own installation',
    read: z.string().regex(hostName, 'must be a host name such as git.example.com'),
  },
}

export type ProviderField = keyof typeof providerField
type Given = Map<ProviderField, string>

const fields = Object.keys(providerField) as ProviderField[]
const setting = new RegExp(`^OAUTH_([A-Z0-9_]+?)_(${fields.join('|')})$`)
const addresses = ['AUTHORIZE_URL', 'TOKEN_URL', 'USERINFO_URL'] as const
const standardScopes = 'openid email profile'

/**
 * Reads the providers from an environment.
 * @param problems receives a line for each wrong or missing setting
 */
export function readProviders(env: NodeJS.ProcessEnv, problems: string[]): OAuthProvider[] {
  const named = new Map<string, Given>()
  for (const [key, value] of Object.entries(env)) {
    const [, name, field] = setting.exec(key) ?? []
    if (!name || !field || !value) continue
    named.set(name, (named.get(name) ?? new Map()).set(field as ProviderField, value))
  }
  return [...named].map(([name, given]) => readProvider(name, given, problems))
}

function readProvider(name: string, given: Given, problems: string[]): OAuthProvider {
  const read = (field: ProviderField, missing = 'is missing'): string => {
    const result = providerField[field].read.safeParse(given.get(field))
    if (result.success) return result.data
    problems.push(
      `OAUTH_${name}_${field}: ${given.has(field) ? result.error.issues[0]?.message : missing}`,
    )
    return ''
  }
  const optional = (field: ProviderField) => (given.has(field) ? read(field) : undefined)

  // URLs without an issuer mean plain OAuth 2, whatever the provider's name.
  const isPlain = !given.has('ISSUER') && addresses.some(field => given.has(field))
  const preset = isPlain ? undefined : presets[name]
  for (const field of ['TENANT', 'HOST'] as const) {
    if (given.has(field) && !preset?.takes.includes(field))
      problems.push(`OAUTH_${name}_${field}: has no meaning for this provider; remove it`)
  }
  const known = preset?.settings({ tenant: optional('TENANT'), host: optional('HOST') })
  const isKnown = known?.issuer !== undefined || known?.tokenUrl !== undefined
  const remedy = 'is missing; without one, set AUTHORIZE_URL, TOKEN_URL and USERINFO_URL'
  const urls = isPlain ? addresses.map(field => read(field)) : addresses.map(optional)
  return {
    name: name.toLowerCase().replaceAll('_', '-'),
    issuer: isPlain
      ? null
      : given.has('ISSUER') || !isKnown
        ? read('ISSUER', remedy)
        : (known?.issuer ?? null),
    authorizeUrl: urls[0] ?? known?.authorizeUrl ?? '',
    tokenUrl: urls[1] ?? known?.tokenUrl ?? '',
    userinfoUrl: urls[2] ?? known?.userinfoUrl ?? '',
    clientId: read('CLIENT_ID'),
    clientSecret: read('CLIENT_SECRET'),
    scopes: (optional('SCOPES') ?? known?.scopes ?? standardScopes).split(/[\s,]+/),
    dialect: known?.dialect ?? 'standard',
    signOut: optional('SIGN_OUT') === 'true',
  }
}
