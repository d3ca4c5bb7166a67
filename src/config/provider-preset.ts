import type { OAuthProvider } from './provider.ts'

/** Preset settings of a provider, so that its client id and secret are enough. */
interface Preset {
  /** Settings that only some providers have. */
  takes: ('TENANT' | 'HOST')[]
  settings(given: { tenant: string | undefined; host: string | undefined }): {
    issuer?: string
    authorizeUrl?: string
    tokenUrl?: string
    userinfoUrl?: string
    scopes?: string
    dialect?: OAuthProvider['dialect']
  }
}

/**
 * By the <NAME> in the settings. Keycloak is standard except for its issuer, which only the
 * operator knows.
 */
export const presets: Partial<Record<string, Preset>> = {
  // GitHub supports only OAuth 2, and its profile lacks verified addresses.
  GITHUB: {
    takes: ['HOST'],
    settings: ({ host }) => ({
      authorizeUrl: `https://${host ?? 'github.com'}/login/oauth/authorize`,
      tokenUrl: `https://${host ?? 'github.com'}/login/oauth/access_token`,
      userinfoUrl:
        host === undefined ? 'https://api.github.com/user' : `https://${host}/api/v3/user`,
      scopes: 'read:user user:email',
      dialect: 'github',
    }),
  },
  GITLAB: {
    takes: ['HOST'],
    settings: ({ host }) => ({ issuer: `https://${host ?? 'gitlab.com'}` }),
  },
  GOOGLE: { takes: [], settings: () => ({ issuer: 'https://accounts.google.com' }) },
  MICROSOFT: {
    takes: ['TENANT'],
    settings: ({ tenant }) => ({
      issuer: `https://login.microsoftonline.com/${tenant ?? 'common'}/v2.0`,
      dialect: 'microsoft',
    }),
  },
}
