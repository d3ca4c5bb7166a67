import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { generateClient } from '../client/generate.ts'

const file = new URL('../client/generated.ts', import.meta.url)

describe('test/client/generated.ts', () => {
  it('is what the schema and the operations make; UPDATE_CLIENT=1 npm test -- unit/client writes it', async () => {
    const made = await generateClient()
    if (process.env.UPDATE_CLIENT) writeFileSync(file, made)
    expect(readFileSync(file, 'utf8')).toBe(made)
  })
})
