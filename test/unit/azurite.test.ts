import { expect, it } from '@jest/globals'

it('is there', async () => {
  const response = await fetch(/BlobEndpoint=([^;]+)/.exec(process.env.TEST_AZURE ?? '')?.[1] ?? '')
  expect(response.headers.get('server')).toMatch(/Azurite/)
})
