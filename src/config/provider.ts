/** The name of the embedded provider, which a service without other providers uses. */
export const embeddedName = 'local'

/** The name of the provider for the service's own accounts. */
export const accountsName = 'accounts'

/** One sign-in provider, from the OAUTH_<NAME>_* settings. */
export interface OAuthProvider {
  name: string
  /**
   * The issuer of an OpenID Connect provider; null for plain OAuth 2, where the profile comes from
   * userinfo.
   */
  issuer: string | null
  /** With an issuer, the URLs may be "" and then come from its discovery. */
  authorizeUrl: string
  tokenUrl: string
  userinfoUrl: string
  /** How to parse the provider's responses where they differ from OpenID Connect. */
  dialect: 'standard' | 'github' | 'microsoft'
  /** Whether signing out here also signs out at the provider. */
  signOut: boolean
  clientId: string
  clientSecret: string
  scopes: string[]
  /**
   * For the service's own accounts: the origin at which this process reaches itself, instead of the
   * issuer's origin.
   */
  reachedAt?: string
}
