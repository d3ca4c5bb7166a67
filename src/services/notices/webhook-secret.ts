import type { WebhookRow } from '../../../db/queries/webhook.ts'
import type { Tokens } from '../../runtime/tokens.ts'
import { DAY_MS } from '../../values/duration.ts'

/**
 * How long events are signed with the secret before, too: so long a receiver has to take the new
 * one.
 */
export const OLD_SECRET_MS = DAY_MS

/**
 * A secret of a webhook, as Standard Webhooks writes it. It is not stored: the database alone gives
 * none away.
 */
export const secretOf = (tokens: Tokens, id: string, number: number): string =>
  `whsec_${Buffer.from(tokens.digest('webhook', number === 0 ? id : `${id} ${number}`), 'hex').toString('base64')}`

/** The secrets that the events of a webhook are signed with now, the newest first. */
export const webhookSecrets = (
  tokens: Tokens,
  {
    id,
    secretNumber,
    oldSecretEndsAt,
  }: Pick<WebhookRow, 'id' | 'secretNumber' | 'oldSecretEndsAt'>,
): string[] => {
  const isOldValid = oldSecretEndsAt !== null && oldSecretEndsAt > Date.now()
  return [secretNumber, ...(isOldValid ? [secretNumber - 1] : [])].map(number =>
    secretOf(tokens, id, number),
  )
}
