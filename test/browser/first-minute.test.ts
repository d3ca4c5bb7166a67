import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { COMPILED, startBuilt } from '../support/built-service.ts'
import { until } from '../support/until.ts'
import { openBrowser, visit } from './browser.ts'

let dir: string
let browser: Browser

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-first-'))
  writeFileSync(join(dir, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" >'${dir}/opened'\n`, {
    mode: 0o755,
  })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
})

/** Runs the service on its own terminal, with `script` of util-linux. */
async function onTerminal(
  args: string,
  use: (shown: string, all: () => string) => Promise<void>,
): Promise<void> {
  const child = spawn(
    'script',
    ['-qefc', `exec '${process.execPath}' '${resolve('src/main.ts')}' ${args}`, '/dev/null'],
    {
      cwd: dir,
      env: {
        ...COMPILED,
        PATH: `${dir}:${process.env.PATH}`,
        PORT: '0',
        DATA_DIR: dir,
        LOG_LEVEL: 'info',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  const ended = once(child, 'exit')
  let said = ''
  child.stdout.on('data', chunk => {
    said += chunk
  })
  try {
    await until(() => said.includes('Press Ctrl+C'))
    await use(said, () => said)
  } finally {
    // Types Ctrl+C on the terminal.
    child.stdin.write('\u0003')
    await ended
  }
}

const addressIn = (text: string) =>
  /http:\/\/localhost:\d+\/sign-in\/first\?secret=[\w-]+/.exec(text)?.[0]

describe('The first minute', () => {
  it(
    'opens the console with one URL from the terminal, which no log contains',
    () =>
      onTerminal('--open', async (shown, all) => {
        const address = addressIn(shown) ?? ''
        // The shell creates the file before it writes to it.
        await until(() => existsSync(join(dir, 'opened')) && statSync(join(dir, 'opened')).size > 0)
        expect(readFileSync(join(dir, 'opened'), 'utf8')).toBe(address)
        expect(shown).not.toContain(readFileSync(join(dir, 'sign-in-word'), 'utf8').trim())

        const { page } = await visit(browser, new URL(address).origin)
        await page.goto(address)
        expect(page.url()).not.toContain('secret')
        expect(await page.getByLabel('Sign-in word').count()).toBe(0)
        await page.getByLabel('E-mail address', { exact: true }).fill('alice@example.com')
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByRole('button', { name: 'Account menu' }).waitFor()

        const other = await visit(browser, new URL(address).origin)
        await other.page.goto(address)
        await other.page.getByLabel('Sign-in word').waitFor()
        await until(() => all().includes('/sign-in/first'))
        expect(all().split(address.split('=')[1] ?? '')).toHaveLength(2)
      }),
    60_000,
  )

  it('prints the setup word without a URL if there is no terminal', async () => {
    const service = await startBuilt({ DATA_DIR: dir })
    try {
      await until(() => service.said().includes('Press Ctrl+C'))
      expect(addressIn(service.said())).toBeUndefined()
      expect(service.said()).toContain(
        `the word ${readFileSync(join(dir, 'sign-in-word'), 'utf8').trim()}`,
      )
    } finally {
      await service.end('SIGTERM')
    }
  })
})
