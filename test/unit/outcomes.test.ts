import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { missingSuites, unseenOutcomes } from '../support/outcomes.ts'

describe('unseenOutcomes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'satchel-outcomes-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('lists what no process of the tests has recorded', () => {
    const all = unseenOutcomes(folder)
    const some = [
      'GET /api/folders 200',
      'GET /api/folders 401',
      'POST /api/files/move 400 PATH_EXISTS',
      'graphql createLink RATE_LIMITED',
      'graphql createTag ok',
    ]
    expect(all.filter(outcome => some.includes(outcome)).sort()).toEqual(some.sort())
    writeFileSync(join(folder, '1'), `${some[0]}\n${some[1]}\n`)
    writeFileSync(join(folder, '2'), `${some[1]}\n${some[4]}\n`)
    const seen = [some[0], some[1], some[4]]
    expect(unseenOutcomes(folder)).toEqual(all.filter(outcome => !seen.includes(outcome)))
  })

  it('names the suites that have not run to their end', () => {
    expect(missingSuites(folder)).toEqual(['quick', 'rest'])
    writeFileSync(join(folder, '3'), 'suite quick\n')
    expect(missingSuites(folder)).toEqual(['rest'])
    writeFileSync(join(folder, '4'), 'suite rest\n')
    expect(missingSuites(folder)).toEqual([])
    writeFileSync(join(folder, '3'), '')
    writeFileSync(join(folder, '4'), 'suite all\n')
    expect(missingSuites(folder)).toEqual([])
  })
})
