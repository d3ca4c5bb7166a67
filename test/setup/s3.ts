import { type Radosgw, startRadosgw } from '../stores/s3/radosgw.ts'
import { makeTemplate } from '../support/templates.ts'

declare global {
  var radosgw: Radosgw | undefined
}

/** One S3 store for the whole run. Each test application uses its own bucket in it. */
export default async function setup() {
  await makeTemplate('sqlite')
  globalThis.radosgw = await startRadosgw()
  const { endpoint, accessKeyId, secretAccessKey } = globalThis.radosgw
  process.env.TEST_S3 = JSON.stringify({ endpoint, accessKeyId, secretAccessKey })
}
