import { isProofOld, noteProof } from '../../../db/queries/login.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Core } from '../core.ts'

/** The maximum age of an identity confirmation for a critical action. */
const FRESH_MS = 10 * 60_000

/**
 * Proofs of identity: a session keeps the time of the last one. A sign-in counts, and so does a
 * passkey or a password at `/account/confirm`.
 */
export function proofService({
  db,
  publicUrl,
  hasAccounts,
}: Core<'db' | 'publicUrl'> & { hasAccounts: boolean }) {
  return {
    /** Whether the last proof of this session is at most ten minutes old. */
    isFresh: async ({ credentialId }: Caller): Promise<boolean> =>
      !(await isProofOld(db, credentialId, Date.now() - FRESH_MS, 'anyone')),

    note: ({ credentialId }: Caller): Promise<unknown> => noteProof(db, credentialId, Date.now()),

    /**
     * Checks the last proof before a critical action. People without an account of this service are
     * not asked: only their provider could ask, and may answer from its own session.
     * @throws PROOF_NEEDED
     */
    async require({ via, credentialId }: Caller): Promise<void> {
      if (!hasAccounts || via !== 'session') return
      if (!(await isProofOld(db, credentialId, Date.now() - FRESH_MS, 'with a login'))) return
      throw proofNeeded(publicUrl())
    },
  }
}

export type ProofService = ReturnType<typeof proofService>

export function proofNeeded(publicUrl: string): AppError {
  const url = `${publicUrl}/account/confirm`
  return new AppError(
    'PROOF_NEEDED',
    `Confirm first that it is you: open ${url} in this browser, and try again.`,
    { url },
  )
}
