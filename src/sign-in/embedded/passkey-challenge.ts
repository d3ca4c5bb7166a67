import { z } from 'zod'
import type { Caller } from '../../access/caller.ts'
import type { Tokens } from '../../runtime/tokens.ts'

const SECONDS = 900

const challenge = z.object({ session: z.string(), challenge: z.string() })

/** The challenges of passkeys in forms, sealed for the session of the caller. */
export const passkeyChallenges = (tokens: Tokens) => ({
  seal: (caller: Caller, own: string): string =>
    tokens.seal('passkey', { session: caller.credentialId, challenge: own }, SECONDS),

  /** The challenge that a form returns, or null if it is not one of this session. */
  read(caller: Caller, fields: URLSearchParams): string | null {
    const asked = tokens.open(challenge, 'passkey', fields.get('challenge'))
    return asked?.session === caller.credentialId ? asked.challenge : null
  },
})
