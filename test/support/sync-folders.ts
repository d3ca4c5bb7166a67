import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { HttpProxy } from './http-proxy.ts'

/** Requests of `satchel` that carry file contents. */
export const BYTES = /^GET \/api\/blobs|\/upload$|\/parts\//

/** Records the requests that pass a proxy: "GET /path", or "POST Name" for GraphQL. */
export function noteRequests(proxy: HttpProxy) {
  let requests: string[] = []
  return {
    /** Clears the recorded requests. @param meddle is called before each request is forwarded */
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

/** Writes files below a folder. Creates all missing folders. */
export function writeFiles(root: string, files: Record<string, string | Uint8Array>): void {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), bytes)
  }
}

/**
 * The texts of the files below a folder by path, sorted. The value is null for anything but a file.
 */
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

/** The files in which `satchel sync --two-way` keeps its state in a folder. */
export const isSatchels = (path: string): boolean => /^\.satchel(\/|$)/.test(path)
