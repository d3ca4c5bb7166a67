/**
 * Connects with the configuration of the service: `ca-client.ts <client> <url>`. Exits with 0 if
 * the server is trusted, and prints the error otherwise.
 */

import { loadConfig } from '../../src/config/config.ts'
import { connectRedis } from '../../src/coordination/redis.ts'
import { createMailer } from '../../src/jobs/mail.ts'
import { createLog } from '../../src/runtime/log.ts'

const [, , client, url = ''] = process.argv
const config = loadConfig()
const log = createLog({ logLevel: 'silent' }, { write: () => {} })

const clients: Record<string, () => Promise<unknown>> = {
  // The service reaches providers, webhook targets and stores by fetch or by node:https.
  fetch: () => fetch(url),
  https: async () => {
    const { get } = await import('node:https')
    return new Promise((resolve, reject) => get(url, resolve).on('error', reject))
  },
  mail: () =>
    createMailer({ ...config, smtpUrl: url, mailFrom: 'a@example.com' }).send(
      { template: 'address-changed', to: 'b@example.com', values: { provider: null } } as never,
      { id: 'x', language: 'en' },
    ),
  redis: async () => {
    const redis = await connectRedis(url, log)
    await new Promise((resolve, reject) => redis.once('ready', resolve).once('error', reject))
    return redis.ping()
  },
}

try {
  await clients[client ?? '']?.()
  process.exit(0)
} catch (error) {
  const { message, code, cause } = error as Error & { code?: string; cause?: { code?: string } }
  process.stdout.write(`${code} ${cause?.code} ${message}`)
  process.exit(1)
}
