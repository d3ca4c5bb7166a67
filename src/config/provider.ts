/**
 * The name of the provider of the embedded sign-in, which a service without other providers has.
 */
export const embeddedName = 'local'

/** The name of the provider of own accounts. */
export const accountsName = 'accounts'

/** One sign-in provider, from the OAUTH_<NAME>_* settings. */
export interface OAuthProvider {
  name: string
  /**
   * The issuer of an OpenID Connect provider; null for OAuth 2 alone, where the profile comes from
   * userinfo.
   */
  issuer: string | null
  /** With an issuer, the URLs may be "": then they come from its discovery. */
  authorizeUrl: string
  tokenUrl: string
  userinfoUrl: string
  /** How its answers are to be read where they differ from OpenID Connect. */
  dialect: 'standard' | 'github' | 'microsoft'
  /** Whether people who sign out here sign out there, too. */
  signOut: boolean
  clientId: string
  clientSecret: string
  scopes: string[]
  /**
   * For the provider of own accounts: the origin at which this process reaches itself, in place of
   * that of the issuer.
   */
  reachedAt?: string
}
