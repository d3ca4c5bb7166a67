import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { OAuthProvider } from '../../config/config.ts'
import { nobody } from '../../http/callers.ts'
import type { DoorPlan } from '../../http/threshold.ts'
import type { Log } from '../../runtime/log.ts'
import { createEmbeddedSignIn } from './provider.ts'
import { openSignInWord, type SignInWord } from './word.ts'

export interface EmbeddedOptions {
  publicUrl: string
  secretKey: string
  dataDir: string
  log: Log
}

/**
 * The embedded provider, ready to be mounted on the gateway, and the ways to let a new browser in.
 */
export interface MountedSignIn {
  provider: OAuthProvider
  door: DoorPlan
  /** The word that each new browser must send. */
  word: SignInWord
  firstAddress: () => string
}

export async function mountSignIn({
  publicUrl,
  secretKey,
  dataDir,
  log,
}: EmbeddedOptions): Promise<MountedSignIn> {
  const word = await openSignInWord(join(dataDir, 'sign-in-word'))
  const signIn = await createEmbeddedSignIn({
    publicUrl,
    redirectUri: `${publicUrl}/auth/callback`,
    key: createHash('sha256').update(`embedded sign-in ${secretKey}`).digest(),
    word,
    onError: error => log.warn({ err: error }, 'the embedded sign-in failed'),
  })
  const door: DoorPlan = {
    prefix: '/sign-in',
    find: () => ({
      route: '/sign-in',
      // The provider has cookies of its own, and checks the machine that a request comes from.
      guards: 'nothing',
      caller: nobody,
      writes: false,
      handle: ({ req, res }) => signIn.handle(req, res),
    }),
  }
  return { provider: signIn.provider, door, word, firstAddress: signIn.firstAddress }
}
