import { expect } from '@jest/globals'
import type { Person, TestApp } from './harness.ts'

/** What GraphQL says to something odd. */
export interface Verdict {
  status: number
  data: unknown
  codes: (string | undefined)[]
}

/** Sends a body as someone. */
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
 * Reads an answer, and looks at what holds for every one: it came soon, its size is bounded, and
 * nothing of the inside is in it.
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

/** A text made of many. */
export const many = (count: number, each: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => each(i)).join(' ')

/** A text within brackets within brackets. */
export const nest = (depth: number, open: string, inside: string, close = '}'): string =>
  open.repeat(depth) + inside + close.repeat(depth)
