import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { buildSchema } from 'graphql'
import { printed } from '../../schema/print.ts'

const file = new URL('../../schema/schema.graphql', import.meta.url)

describe('schema/schema.graphql', () => {
  it('is the schema; when it differs, run: npm run schema', () => {
    expect(readFileSync(file, 'utf8')).toBe(printed)
  })

  it('is valid, and says what every field of the roots is for', () => {
    const { Query, Mutation, Subscription } = buildSchema(printed).getTypeMap()
    for (const root of [Query, Mutation, Subscription]) {
      const fields = root && 'getFields' in root ? Object.values(root.getFields()) : []
      expect(fields.length).toBeGreaterThan(0)
      expect(fields.filter(field => !field.description).map(field => field.name)).toEqual([])
    }
  })
})
