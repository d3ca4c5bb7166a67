import { createHash } from 'node:crypto'
import type { OAuthProvider } from '../config.ts'
import type { Mount } from '../gateway/http.ts'
import type { Log } from '../log.ts'
import { createEmbeddedSignIn } from './sign-in.ts'

/** The embedded provider, ready to be mounted on the gateway. */
export async function mountSignIn(
  publicUrl: string,
  secretKey: string,
  log: Log,
): Promise<{ provider: OAuthProvider; mount: Mount }> {
  const signIn = await createEmbeddedSignIn({
    publicUrl,
    redirectUri: `${publicUrl}/auth/callback`,
    key: createHash('sha256').update(`embedded sign-in ${secretKey}`).digest(),
    onError: error => log.warn({ err: error }, 'the embedded sign-in failed'),
  })
  return { provider: signIn.provider, mount: { prefix: '/sign-in', handle: ({ req, res }) => signIn.handle(req, res) } }
}
