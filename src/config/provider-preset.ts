import type { OAuthProvider } from './provider.ts'

/** What is known of a provider by its name, so that its client id and secret are enough. */
interface Preset {
  /** The settings that only some providers have. */
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
 * By the <NAME> of the settings. Keycloak is standard but for its issuer, which only its operator
 * knows.
 */
export const presets: Partial<Record<string, Preset>> = {
  // GitHub has OAuth 2 alone; the verified addresses are not in the profile.
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
