import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'
import type { Tab, TestBrowser } from './tab.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** https://www.w3.org/TR/webdriver2/#elements */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
/** https://www.w3.org/TR/webdriver2/#keyboard-actions */
const keys = { Enter: '\uE007', Escape: '\uE00C', Delete: '\uE017', Control: '\uE009' }

/**
 * Finds elements by role and name, computed like axe. The function's arguments are the role and the
 * beginning of the name.
 */
const FIND = `
  const [role, name] = arguments
  if (!window.axe) return 'without axe'
  axe.setup()
  try {
    const { aria, dom, text } = axe.commons
    return [...document.querySelectorAll('*')].find(one => aria.getRole(one) === role &&
      dom.isVisibleToScreenReaders(one) && text.accessibleText(one).startsWith(name)) ?? null
  } finally { axe.teardown() }`

/** The input is never in the page, and tests cannot use the system's file picker. */
const KEEP_INPUT = `HTMLInputElement.prototype.click = function () {
  this.type === 'file' ? document.body.append(this) : HTMLElement.prototype.click.call(this) }`

/** A virtual screen: WebKitGTK has no headless mode. */
async function startScreen(): Promise<{ child: ChildProcess; display: string }> {
  const child = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', '1300x900x24', '-nolisten', 'tcp'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  )
  const said = child.stdio[3] as NodeJS.ReadableStream
  const [number] = await once(createInterface(said), 'line', {
    signal: AbortSignal.timeout(20_000),
  })
  return { child, display: `:${number}` }
}

/** WebKitGTK with its own WebDriver. It has no BiDi, so Playwright cannot use it. */
export async function openWebKit(): Promise<TestBrowser> {
  const { child: screen, display } = await startScreen()
  const url = `http://127.0.0.1:${await freePort()}`
  const driver = spawn('WebKitWebDriver', [`--port=${new URL(url).port}`], {
    env: { ...process.env, DISPLAY: display, LANG: 'en_GB.UTF-8' },
    stdio: 'ignore',
  })
  const sessions: string[] = []

  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await fetch(url + path, {
      method,
      body: body ? JSON.stringify(body) : null,
      signal: AbortSignal.timeout(30_000),
    })
    const { value } = (await answer.json()) as { value: T & { error?: string; message?: string } }
    if (!answer.ok) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`)
    return value
  }

  await until(() => call('GET', '/status').catch(() => null))
  return {
    async tab() {
      const options = { binary: process.env.TEST_WEBKIT, args: ['--automation'] }
      const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': options } }
      const { sessionId } = await call<{ sessionId: string }>('POST', '/session', { capabilities })
      const session = `/session/${sessionId}`
      sessions.push(session)
      await call('POST', `${session}/window/rect`, { width: 1280, height: 840 })
      return tabOf(<T>(method: string, path: string, body?: object) =>
        call<T>(method, session + path, body),
      )
    },
    async close() {
      for (const session of sessions) await call('DELETE', session).catch(() => null)
      driver.kill()
      screen.kill()
    },
  }
}

type Call = <T>(method: string, path: string, body?: object) => Promise<T>

function tabOf(call: Call): Tab {
  const run = <T>(script: string, ...args: unknown[]) =>
    call<T>('POST', '/execute/sync', { script, args })

  async function find(role: string, name: string): Promise<string | undefined> {
    // Runs in the same script that needs the element, because the page may change between two
    // scripts.
    for (;;) {
      const found = await run<Record<string, string> | string | null>(FIND, role, name)
      if (typeof found !== 'string') return found?.[ELEMENT]
      await run(axe)
    }
  }

  /** Retries while the element is missing, moving or being re-rendered. */
  async function onElement(
    role: string,
    name: string,
    act: (element: string) => Promise<unknown>,
  ): Promise<void> {
    let why: unknown
    const isDone = async () => {
      try {
        const id = await find(role, name)
        if (!id) return false
        await act(`/element/${id}`)
        return true
      } catch (error) {
        why = error
        return false
      }
    }
    await until(isDone, 20_000, 100).catch(() => {
      throw new Error(`No ${role} “${name}” to be used`, { cause: why })
    })
  }

  const click = (role: string, name: string) =>
    onElement(role, name, element => call('POST', `${element}/click`, {}))
  const type = (...values: string[]) => {
    const down = values.map(value => ({ type: 'keyDown', value }))
    const up = values.toReversed().map(value => ({ type: 'keyUp', value }))
    return call('POST', '/actions', {
      actions: [{ type: 'key', id: 'keyboard', actions: [...down, ...up] }],
    })
  }

  return {
    open: url => call('POST', '/url', { url }),
    url: () => call('GET', '/url'),
    click,
    async type(role, name, text) {
      await click(role, name)
      await type(keys.Control, 'a')
      await onElement(role, name, element => call('POST', `${element}/value`, { text }))
    },
    press: async key => void (await type(keys[key])),
    // Leaving the page ends the script.
    isThere: (role, name) =>
      find(role, name).then(
        found => found !== undefined,
        () => false,
      ),
    async choose(role, name, path) {
      await run(KEEP_INPUT)
      await click(role, name)
      const input = { using: 'css selector', value: 'body > input[type=file]' }
      const found = await until(() =>
        call<Record<string, string>>('POST', '/element', input).catch(() => null),
      )
      await call('POST', `/element/${found[ELEMENT]}/value`, { text: path })
      await run(`document.querySelector('body > input[type=file]').remove()`)
    },
    evaluate: expression => run(`return (${expression})`),
    screenshot: async () => Buffer.from(await call<string>('GET', '/screenshot'), 'base64'),
  }
}
