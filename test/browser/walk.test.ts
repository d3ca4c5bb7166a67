import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { stepsOfWalk, take } from '../support/walk.ts'
import { openBrowser, paste, run, screenshot, signIn, visit } from './browser.ts'
import { type Service, startService } from './service.ts'

let service: Service
let browser: Browser

beforeAll(async () => {
  service = await startService({}, { process: true })
  browser = await openBrowser('whole')
})

afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

/** The scalar fields of a response, as a page shows them. */
const leavesOf = (value: unknown): string[] =>
  Object.entries(value ?? {}).flatMap(([name, of]) =>
    typeof of === 'object' ? leavesOf(of) : [`"${name}": ${JSON.stringify(of)}`],
  )

describe('The tour in docs/walk.md', () => {
  it('works in GraphiQL: its operations return the documented results', async () => {
    const steps = stepsOfWalk()
    const first = steps.findIndex(({ typed }) => typed.language === 'graphql')
    expect(await take(steps.slice(0, first), service.dataDir, service.url)).toMatchObject({
      code: 0,
      errors: '',
    })

    const alice = await visit(browser, service.url)
    await signIn(alice, service.url, 'alice@example.com', '/graphql')
    const { typed, shown } = steps[first] ?? {}
    await paste(alice, typed?.text ?? '')
    const leaves = leavesOf(JSON.parse(shown?.text ?? ''))
    expect(leaves).toContain('"email": "alice@example.com"')
    for (const leaf of leaves) await run(alice.page, leaf)
    await screenshot(alice.page, 'walk')
    expect(alice).toMatchObject({ foreign: [], errors: [] })
  })
})
