import type { SignInWord } from '../../src/sign-in/embedded/word.ts'

/** A word that stays as it is. */
export const testWord: SignInWord = {
  file: 'data/sign-in-word',
  current: async () => 'sesame',
  redeem: async typed => typed === 'sesame',
}

/** A browser that follows nothing by itself and keeps cookies by their path. */
export class Browser {
  /** The cookies by name; the last one of a name counts. */
  readonly jar = new Map<string, { path: string; value: string }>()
  /** The address that was asked for last. */
  last = ''

  /** Asks for an address, which may be relative to the last one. */
  async get(url: string, init: RequestInit = {}): Promise<Response> {
    const target = new URL(url, this.last || undefined)
    this.last = target.href
    const headers = new Headers(init.headers)
    const cookies = [...this.jar].filter(([, c]) => target.pathname.startsWith(c.path))
    headers.set('Cookie', cookies.map(([name, c]) => `${name}=${c.value}`).join('; '))
    const res = await fetch(target, { ...init, headers, redirect: 'manual' })
    for (const line of res.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ')
      const [name = '', value = ''] = pair.split('=')
      const path = attributes.find(a => a.startsWith('path='))?.slice(5) ?? '/'
      if (value) this.jar.set(name, { path, value })
      else this.jar.delete(name)
    }
    return res
  }

  /** Sends a form to the page that was asked for last. */
  post(form: Record<string, string>): Promise<Response> {
    return this.get(this.last, { method: 'POST', body: new URLSearchParams(form) })
  }
}
