import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Block, blocksOf } from '../support/docs.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

const PAGE = 'docs/graphql.md'
const DOCUMENTED = 'http://localhost:8080'

let t: TestApp
let alice: Person
beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
})
afterAll(() => t?.stop())

interface Step {
  document: string
  variables: string
  /** The response that the page shows. */
  answer: unknown
}

/** The operations of a section, with their variables and responses. */
function stepsOf(heading: string): Step[] {
  const blocks = blocksOf(PAGE, heading).filter(({ language }) => language !== 'ts')
  const starts = blocks.flatMap(({ language }, i) => (language === 'graphql' ? [i] : []))
  return starts.map((start, i): Step => {
    const [document, ...json] = blocks.slice(start, starts[i + 1]) as [Block, ...Block[]]
    const [variables, answer] = json.length > 1 ? json : [undefined, ...json]
    return {
      document: document.text,
      variables: variables?.text ?? '{}',
      answer: JSON.parse(answer?.text ?? 'null'),
    }
  })
}

/** Values that differ between services. */
const masks: [RegExp, string][] = [
  [/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'ID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME'],
  [/^Wz[\w-]+$/g, 'CURSOR'],
  [/\/api\/blobs\/.+$/g, '/api/blobs/SIGNED'],
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, 'TOKEN'],
]
const masked = (text: string) =>
  masks.reduce((masking, [pattern, name]) => masking.replace(pattern, name), text)

/** The ids and tokens of the page, mapped to those of this service. */
const actual = new Map<string, string>()

/** Accepts the example as equal if it differs from the response only in ids, tokens and times. */
function learn(shown: unknown, answered: unknown): unknown {
  if (typeof shown === 'string' && typeof answered === 'string') {
    if (masked(shown) !== masked(answered)) return shown
    actual.set(shown, answered)
    return answered
  }
  if (
    typeof shown !== 'object' ||
    shown === null ||
    typeof answered !== 'object' ||
    answered === null
  )
    return shown
  if (Array.isArray(shown)) return shown.map((item, i) => learn(item, Reflect.get(answered, i)))
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [key, learn(value, Reflect.get(answered, key))]),
  )
}

async function take({ document, variables, answer }: Step): Promise<void> {
  const given = JSON.parse(variables, (_key, value: unknown) =>
    typeof value === 'string' ? (actual.get(value) ?? value) : value,
  )
  const file = document.includes('UploadFileInput')
    ? new File(['Dear Bob\n'], 'letter.txt', { type: 'text/plain' })
    : undefined
  const caller = document.includes('openShare') ? t.anonymous : alice
  const { data, errors } = await caller.graphql(document, given, file)
  const told = errors?.map(({ message, path, extensions }) => ({ message, path, extensions }))
  const answered = JSON.parse(
    JSON.stringify({ data, errors: told }).replaceAll(t.url, DOCUMENTED),
  ) as unknown
  expect(answered).toEqual(learn(answer, answered))
}

describe(PAGE, () => {
  it.each(['## Ten operations', '## Errors', '## Clients with a cache'])(
    'matches its example: %s',
    async heading => {
      const steps = stepsOf(heading)
      expect(steps.length).toBeGreaterThan(0)
      for (const step of steps) await take(step)
    },
  )

  it('has ten operations', () => {
    expect(
      readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8').match(/^### \d+\. /gm),
    ).toHaveLength(10)
  })

  it('shows the tested clients', () => {
    const folder = new URL('../clients/', import.meta.url)
    const flat = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
    const sources = readdirSync(folder).map(name =>
      flat(readFileSync(new URL(name, folder), 'utf8')),
    )
    const blocks = blocksOf(PAGE, '## Clients with a cache').filter(
      ({ language }) => language === 'ts',
    )
    expect(blocks).toHaveLength(2)
    for (const { text } of blocks)
      expect(sources.filter(source => source.includes(flat(text)))).toHaveLength(1)
  })
})
