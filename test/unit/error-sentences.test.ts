import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'

const source = readFileSync(new URL('../../src/openapi/errors.ts', import.meta.url), 'utf8')

describe('The sentences of the OpenAPI document', () => {
  it('come from the functions with which the service throws errors', () => {
    const own = [...source.matchAll(/^ {2}(\w+): \{\s*says: (['"`].*)/gm)].map(([, code]) => code)
    // INVALID_INPUT has a sentence for each input.
    expect(own).toEqual(['INVALID_INPUT'])
  })
})
