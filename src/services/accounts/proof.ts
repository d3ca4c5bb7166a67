import { isProofOld, noteProof } from '../../../db/queries/login.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Core } from '../core.ts'

/** A critical action needs a proof that is not older. */
const FRESH_MS = 10 * 60_000

/**
 * When the person of a session last proved who they are: by the sign-in, or by a passkey or a
 * password since then.
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
     * not asked: only their provider could, and it would answer from a session of its own.
     * @throws PROOF_NEEDED
     */
    async require({ via, credentialId }: Caller): Promise<void> {
      if (!hasAccounts || via !== 'session') return
      if (!(await isProofOld(db, credentialId, Date.now() - FRESH_MS, 'with a login'))) return
      throw new AppError(
        'PROOF_NEEDED',
        `Prove first that it is you: open ${publicUrl()}/account/confirm in this browser, and try again.`,
        { url: `${publicUrl()}/account/confirm` },
      )
    },
  }
}

export type ProofService = ReturnType<typeof proofService>
