import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { HttpProxy } from './http-proxy.ts'

/** Requests of `satchel` that carry the bytes of files. */
export const BYTES = /^GET \/api\/blobs|\/upload$|\/parts\//

/** Notes what passes a proxy: "GET /path", and "POST Name" for what is asked by GraphQL. */
export function noteRequests(proxy: HttpProxy) {
  let requests: string[] = []
  return {
    /** Forgets the requests so far. @param meddle is called before each one is passed on */
    listen(meddle: (line: string) => unknown = () => {}): void {
      requests = []
      proxy.interfere = async ({ method, path, body }) => {
        const operation =
          path === '/graphql' ? /(?:query|mutation) (\w+)/.exec(body.toString())?.[1] : undefined
        const line = `${method} ${operation ?? path.split('?')[0]}`
        requests.push(line)
        await meddle(line)
      }
    },
    count: (pattern: RegExp): number => requests.filter(line => pattern.test(line)).length,
  }
}

export type RequestNotes = ReturnType<typeof noteRequests>

/** Writes files below a folder, which is made with all that lead to them. */
export function writeFiles(root: string, files: Record<string, string | Uint8Array>): void {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), bytes)
  }
}

/** The texts of files below a folder by their paths, sorted; null for what is no file. */
export function textsBelow(root: string): [path: string, text: string | null][] {
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).map(entry => {
    const path = join(entry.parentPath, entry.name)
    return [path.slice(root.length + 1), entry.isFile() ? readFileSync(path, 'utf8') : null] as [
      string,
      string | null,
    ]
  })
  return found.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** What `satchel sync --two-way` keeps for itself in a folder. */
export const isSatchels = (path: string): boolean => /^\.satchel(\/|$)/.test(path)
