import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { clients, generateClient } from '../client/generate.ts'

describe.each(clients)('%s/generated.ts', folder => {
  const file = new URL(`../../${folder}/generated.ts`, import.meta.url)

  it('matches the schema and the operations; npm run update writes it', async () => {
    const made = await generateClient(folder)
    if (process.env.UPDATE) writeFileSync(file, made)
    expect(readFileSync(file, 'utf8')).toBe(made)
  })
})
