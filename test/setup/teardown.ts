import { removeTemplates } from '../support/templates.ts'

export default async function teardown() {
  removeTemplates()
  await globalThis.azurite?.stop()
  await globalThis.radosgw?.stop()
}
