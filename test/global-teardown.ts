import { rmSync } from 'node:fs'

export default async function globalTeardown() {
  const { azurite } = globalThis
  globalThis.azurite = undefined
  if (!azurite) return
  await azurite.stop()
  rmSync(azurite.dir, { recursive: true, force: true })
}
