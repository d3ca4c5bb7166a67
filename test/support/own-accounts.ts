import { Browser } from '../unit/sign-in-browser.ts'
import { type Person, person, type TestApp } from './harness.ts'

export const PASSWORD = 'violet anchor beneath the seventh lamp'

/** Opens a page like a browser, and follows redirects of this service to the last page. */
export async function visit(browser: Browser, url: string, init: RequestInit = {}) {
  const headers = { accept: 'text/html', ...(init.headers as Record<string, string>) }
  let answer = await browser.get(url, { ...init, headers })
  for (let hops = 0; answer.headers.has('location') && hops < 12; hops++)
    answer = await browser.get(answer.headers.get('location') ?? '', { headers })
  return { status: answer.status, text: await answer.text(), url: browser.last, answer }
}

/** Submits the form of the last page. */
export const send = (browser: Browser, form: Record<string, string>, headers = {}) =>
  visit(browser, browser.last, { method: 'POST', body: new URLSearchParams(form), headers })

/** Creates the first account of a service with the one-time link that it prints at its start. */
export async function createFirst(t: TestApp, email = 'owner@example.com', password = PASSWORD) {
  const browser = new Browser()
  const secret = await t.app.services.logins.beginFirst()
  await visit(browser, `${t.url}/sign-in/first/${secret}`)
  const page = await send(browser, { email, name: 'Olivia Owner', password })
  return { browser, page }
}

/** Signs in with address and password in a browser. */
export async function passwordSignIn(
  t: TestApp,
  given: { email: string; password: string },
  browser = new Browser(),
) {
  await visit(browser, `${t.url}/auth/oauth`)
  return { browser, page: await send(browser, given) }
}

/** The user that a browser is signed in as, or null. */
export async function whoIs(t: TestApp, browser: Browser): Promise<string | null> {
  const answer = await browser.get(`${t.url}/auth/is_valid`)
  const { response } = (await answer.json()) as {
    response: { user_info: { email: string } | null }
  }
  return response.user_info?.email ?? null
}

/** The person who is signed in in a browser. */
export function personIn({ url }: TestApp, browser: Browser): Person {
  const cookie = `session_id=${browser.jar.get('session_id')?.value}`
  return person(url, { email: '', userId: '', cookie })
}
