import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'

const source = readFileSync(new URL('../../src/openapi/errors.ts', import.meta.url), 'utf8')

describe('The sentences of the OpenAPI document', () => {
  it('come from the functions that the service throws errors with', () => {
    const own = [...source.matchAll(/^ {2}(\w+): \{\s*says: (['"`].*)/gm)].map(([, code]) => code)
    // Each input names itself in its own sentence.
    expect(own).toEqual(['INVALID_INPUT'])
  })
})
