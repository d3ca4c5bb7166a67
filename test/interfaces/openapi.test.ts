import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { ApiDocument } from '../../src/openapi/document.ts'
import type { Operation } from '../../src/openapi/operation.ts'
import { documents } from '../contract/answers.ts'
import { found, ROOMY, UNHURRIED } from '../support/builders.ts'
import { type RestOptions, rest, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp

beforeAll(async () => {
  const google = {
    OAUTH_GOOGLE_CLIENT_ID: 'satchel',
    OAUTH_GOOGLE_CLIENT_SECRET: 'secret',
    OAUTH_GOOGLE_AUTHORIZE_URL: 'https://accounts.example.org/authorize',
    OAUTH_GOOGLE_TOKEN_URL: 'https://accounts.example.org/token',
    OAUTH_GOOGLE_USERINFO_URL: 'https://accounts.example.org/userinfo',
  }
  t = await startApp({ ...UNHURRIED, ...google })
  await t.limit(ROOMY)
})
afterAll(() => t.stop())

const documentOf = async (url: string): Promise<ApiDocument> =>
  JSON.parse((await rest(url, 'GET', '/api/openapi.json')).text)

describe('GET /api/openapi.json', () => {
  it('describes the tested responses, at the address of the service', async () => {
    expect(await documentOf(t.url)).toEqual({ ...documents[0], servers: [{ url: t.url }] })
  })

  it('describes bytes where the service sends the downloads', async () => {
    const proxy = await startApp({ DOWNLOADS: 'proxy' })
    try {
      expect(await documentOf(proxy.url)).toEqual({
        ...documents[1],
        servers: [{ url: proxy.url }],
      })
    } finally {
      await proxy.stop()
    }
  })
})

/** The example request of an operation, with an existing workspace. */
function exampleRequest(
  path: string,
  { parameters = [], requestBody }: Operation,
  workspace_id: string,
) {
  const shown = (place: string) =>
    parameters
      .filter(p => p.in === place && p.example !== undefined)
      .map(({ name, example }) => [name, name === 'workspace_id' ? workspace_id : String(example)])
  const inPath = Object.fromEntries(shown('path'))
  const query = new URLSearchParams(shown('query'))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(inPath[name]))
  const options: RestOptions = { headers: Object.fromEntries(shown('header')) }
  const {
    'application/json': json,
    'multipart/form-data': form,
    ...others
  } = requestBody?.content ?? {}
  if (json) {
    const example = Object(json.example)
    options.json = 'workspace_id' in example ? { ...example, workspace_id } : example
  }
  if (form) options.form = formOf(Object(form.example))
  for (const raw of Object.values(others)) options.body = String(raw.example)
  return { url: query.size > 0 ? `${filled}?${query}` : filled, options }
}

function formOf(example: object): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(example))
    form.append(name, name === 'file' ? new File([String(value)], 'report.pdf') : String(value))
  return form
}

const operations = Object.entries(documents[0]?.paths ?? {})
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [method.toUpperCase(), path, operation] as const,
    ),
  )
  // An example cannot contain the signature of a provider.
  .filter(([, , { operationId }]) => operationId !== 'backChannelLogout')

describe('The example request of the API document', () => {
  it.each(operations)('for %s %s is valid', async (method, path, operation) => {
    // Some of them end the session, the account or the workspace.
    const alice = await t.signIn('alice')
    const { url, options } = exampleRequest(path, operation, await found(alice))
    const { status, response } = await alice.rest(method, url, options)
    // The example may name missing things, but it must be valid and permitted.
    const wrong = expect.stringMatching(
      /^INVALID_|^(UNAUTHENTICATED|FORBIDDEN|WORKSPACE_NOT_FOUND)$/,
    )
    expect([status, response?.code]).not.toEqual([status, wrong])
  })
})
