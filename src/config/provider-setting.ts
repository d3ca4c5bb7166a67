import { z } from 'zod'

/** The settings of each OAuth 2 provider, as OAUTH_<NAME>_<field>. */
export const providerField = {
  CLIENT_ID: z.string().min(1),
  CLIENT_SECRET: z.string().min(1),
  AUTHORIZE_URL: z.url({ protocol: /^https?$/ }),
  TOKEN_URL: z.url({ protocol: /^https?$/ }),
  USERINFO_URL: z.url({ protocol: /^https?$/ }),
  SCOPES: z.string().min(1).default('openid email profile'),
}
