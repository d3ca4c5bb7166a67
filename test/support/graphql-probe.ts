import { expect } from '@jest/globals'
import type { Person, TestApp } from './harness.ts'

/** The GraphQL response to an unusual request. */
export interface Verdict {
  status: number
  data: unknown
  codes: (string | undefined)[]
}

/** Sends a body as the signed-in person. */
export async function ask(t: TestApp, who: Person, body: unknown): Promise<Verdict> {
  const start = performance.now()
  const response = await fetch(`${t.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', cookie: who.cookie },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return verdictOf(response, start)
}

/**
 * Reads a response, and checks the general rules: fast, bounded in size, and without internal
 * details.
 */
export async function verdictOf(response: Response, start: number): Promise<Verdict> {
  const text = await response.text()
  expect([text.length < 100_000, performance.now() - start < 5000]).toEqual([true, true])
  expect(text).not.toMatch(
    /node_modules|\.[tj]s:\d|"stack"|originalError|SELECT |SQLITE|\bER_[A-Z]|\/tmp\/|INTERNAL/,
  )
  const { data, errors = [] } = JSON.parse(text)
  for (const { message, extensions } of errors) {
    expect(message.length).toBeLessThanOrEqual(500)
    expect(extensions.code).toMatch(/^(INVALID_INPUT|INVALID_JSON|INVALID_PATH|UNAUTHENTICATED)$/)
  }
  const codes = errors.map((e: { extensions: { code: string } }) => e.extensions.code)
  return { status: response.status, data, codes }
}

/** A text repeated with an index. */
export const many = (count: number, each: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => each(i)).join(' ')

/** A text nested in this many brackets. */
export const nest = (depth: number, open: string, inside: string, close = '}'): string =>
  open.repeat(depth) + inside + close.repeat(depth)
