import { expect, it } from '@jest/globals'
import { outcomesBehindTls } from '../../support/store-behind-tls.ts'
import { serverOf, settingsFor } from './server.ts'

it('The service stores files at an https endpoint that is trusted by CA_FILE', async () => {
  const { endpoint } = serverOf()
  const { withCa, without } = await outcomesBehindTls(Number(new URL(endpoint).port), port =>
    settingsFor(`tls-${port}`, { ...serverOf(), endpoint: `https://127.0.0.1:${port}` }),
  )
  expect(withCa).toBe('stored')
  expect(without).toMatch(/certificate/i)
})
