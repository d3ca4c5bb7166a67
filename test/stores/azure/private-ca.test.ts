import { expect, it } from '@jest/globals'
import { outcomesBehindTls } from '../../support/store-behind-tls.ts'

it('The service stores files at an https endpoint that is trusted by CA_FILE', async () => {
  const given = process.env.TEST_AZURE ?? ''
  const [, origin = ''] = /BlobEndpoint=(http:\/\/[^/;]+)/.exec(given) ?? []
  const { withCa, without } = await outcomesBehindTls(Number(new URL(origin).port), port => ({
    AZURE_STORAGE_CONNECTION_STRING: given
      .replace(origin, `https://localhost:${port}`)
      .replace('DefaultEndpointsProtocol=http;', 'DefaultEndpointsProtocol=https;'),
    AZURE_STORAGE_CONTAINER: `tls-${port}`,
  }))
  expect(withCa).toBe('stored')
  expect(without).toMatch(/certificate/i)
})
