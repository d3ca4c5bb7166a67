import { createHash } from 'node:crypto'
import type { S3Server } from './radosgw.ts'

/** The S3 store of the whole run (test/setup/s3.ts). */
export const serverOf = (): S3Server => JSON.parse(process.env.TEST_S3 ?? '{}')

/** Settings of a service with a bucket in a store. All services on a database share one bucket. */
export const settingsFor = (
  of: string,
  { endpoint, accessKeyId, secretAccessKey } = serverOf(),
) => ({
  S3_BUCKET: `t${createHash('sha256').update(of).digest('hex').slice(0, 20)}`,
  S3_ENDPOINT: endpoint,
  S3_ACCESS_KEY_ID: accessKeyId,
  S3_SECRET_ACCESS_KEY: secretAccessKey,
})
