import type { SignInWord } from '../../src/sign-in/embedded/word.ts'

/** A fixed one-time code. */
export const testWord: SignInWord = {
  file: 'data/sign-in-word',
  current: async () => 'sesame',
  redeem: async typed => typed === 'sesame',
}

/** A browser that follows no redirects by itself, and keeps cookies by their path. */
export class Browser {
  /** The cookies by name. The last cookie of a name counts. */
  readonly jar = new Map<string, { path: string; value: string }>()
  /** The last requested address. */
  last = ''

  /** Requests an address, which may be relative to the last one. */
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

  /** Submits a form to the last requested page. */
  post(form: Record<string, string>): Promise<Response> {
    return this.get(this.last, { method: 'POST', body: new URLSearchParams(form) })
  }
}
