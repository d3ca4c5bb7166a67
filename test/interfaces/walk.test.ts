import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type BuiltService, startBuilt } from '../support/built-service.ts'
import { blocksOf } from '../support/docs.ts'
import { stepsOfWalk, take } from '../support/walk.ts'

declare const engine: 'sqlite' | 'mysql'

// Runs once, because it uses the embedded defaults of a new installation.
const onSqlite = engine === 'sqlite' ? describe : describe.skip

/** The values that differ between two walks. */
const masks: [RegExp, string][] = [
  [/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'ID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME'],
  [/(?<![\w-])(satchel_)?[\w-]{43}(?![\w-])/g, '$1TOKEN'],
]
const masked = (text: string) =>
  masks.reduce((t, [pattern, name]) => t.replaceAll(pattern, name), text)

onSqlite('The five minutes of docs/walk.md', () => {
  const steps = stepsOfWalk()
  let dir: string
  let service: BuiltService

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-walk-'))
    service = await startBuilt({ DATA_DIR: dir })
  })
  afterAll(async () => {
    await service.end('SIGTERM')
    rmSync(dir, { recursive: true, force: true })
  })

  it('show a response for every step, in the shell and in GraphiQL', () => {
    expect(steps.filter(({ shown }) => !shown)).toEqual([])
    expect(new Set(steps.map(({ typed }) => typed.language))).toEqual(new Set(['sh', 'graphql']))
  })

  it('work as printed, and return the printed responses', async () => {
    const { code, errors, printed } = await take(steps, dir, service.url)
    expect([code, errors, printed.length]).toEqual([0, '', steps.length])
    for (const [i, { typed, shown }] of steps.entries()) {
      const [got, wanted] = [printed[i], shown?.text].map(text => masked(text ?? ''))
      const answer = (text = '') => (shown?.language === 'json' ? JSON.parse(text) : text)
      expect({ typed: typed.text, answer: answer(got) }).toEqual({
        typed: typed.text,
        answer: answer(wanted),
      })
    }
  })

  it('create a key with which the commands of README.md work as printed', async () => {
    const { key } = JSON.parse(readFileSync(join(dir, 'walk/key.json'), 'utf8')).response.api_key
    const [lines] = blocksOf('README.md', '## The first minute')
    const typed = { language: 'sh', text: lines?.text.replace('satchel_...', key) ?? '' }
    const { code, errors, printed } = await take([{ typed, shown: undefined }], dir, service.url)
    expect([code, errors]).toEqual([0, ''])
    for (const said of ['"msg":"file_uploaded"', '"sharing_link"', '"name":"docs/letter.txt"'])
      expect(printed[0]).toContain(said)
    expect(printed[0]).not.toMatch(/"status":[45]/)
  })
})
