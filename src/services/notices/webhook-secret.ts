import type { WebhookRow } from '../../../db/queries/webhook.ts'
import type { Tokens } from '../../runtime/tokens.ts'
import { DAY_MS } from '../../values/duration.ts'

/**
 * How long events are also signed with the previous secret, so that a receiver has time to switch
 * to the new secret.
 */
export const OLD_SECRET_MS = DAY_MS

/**
 * Derives a secret of a webhook in the format of Standard Webhooks. The secret is not stored, so
 * the database alone cannot reveal it.
 */
export const secretOf = (tokens: Tokens, id: string, number: number): string =>
  `whsec_${Buffer.from(tokens.digest('webhook', number === 0 ? id : `${id} ${number}`), 'hex').toString('base64')}`

/** The secrets that currently sign the events of a webhook, newest first. */
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
