import type { ZxcvbnFactory } from '@zxcvbn-ts/core'

/** Why a password is refused for an account. */
export type PasswordProblem = 'password_short' | 'password_long' | 'password_weak'

export const MIN_ACCOUNT_PASSWORD = 12
export const MAX_ACCOUNT_PASSWORD = 128
/**
 * A score from 0 to 4. From 3 on, a password takes more than 10^8 guesses, which no online attack
 * can make.
 */
const LEAST_SCORE = 3
/**
 * The time of the estimate grows with the square of the length, and longer texts do not improve it.
 */
const ESTIMATED = 64

let estimating: Promise<ZxcvbnFactory> | undefined

/** Loaded on first use, because the dictionary is large. */
async function loadEstimate(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: ESTIMATED })
}

/**
 * Checks a password that a person chooses for their account: its length, and how hard it is to
 * guess. There are no rules about its characters (NIST SP 800-63B).
 * @param context texts that a guesser would try: address, name, the name of the service
 */
export async function problemOfPassword(
  text: string,
  context: string[],
): Promise<PasswordProblem | null> {
  const password = text.normalize('NFC')
  const length = [...password].length
  if (length < MIN_ACCOUNT_PASSWORD) return 'password_short'
  if (length > MAX_ACCOUNT_PASSWORD) return 'password_long'
  estimating ??= loadEstimate()
  const words = context.flatMap(given => [given, ...given.split(/[\s@._-]+/)]).filter(Boolean)
  const { score } = (await estimating).check(password.slice(0, ESTIMATED), words)
  return score < LEAST_SCORE ? 'password_weak' : null
}
