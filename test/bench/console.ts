import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const KiB = 1024
/** The limits of docs/develop.md. */
const bounds = { js: 170 * KiB, css: 20 * KiB }

interface Chunk {
  file: string
  imports?: string[]
  css?: string[]
}

const folder = 'dist/console'
const manifest: Record<string, Chunk> = JSON.parse(
  readFileSync(join(folder, '.vite/manifest.json'), 'utf8'),
)

/** The files that the page itself references. */
const named = [
  ...readFileSync(join(folder, 'index.html'), 'utf8').matchAll(
    /(?:src|href)="\/console\/([^"]+)"/g,
  ),
]
const ofPage = Object.entries(manifest).flatMap(([name, { file }]) =>
  named.some(([, one]) => one === file) ? [name] : [],
)

/** The files that a browser loads for some entry points, with all their imports. */
function filesOf(entries: string[], seen = new Set<string>()): Set<string> {
  const files = new Set<string>()
  for (const name of entries) {
    const chunk = manifest[name]
    if (!chunk || seen.has(name)) continue
    seen.add(name)
    for (const file of [chunk.file, ...(chunk.css ?? []), ...filesOf(chunk.imports ?? [], seen)])
      files.add(file)
  }
  return files
}

const sizeOf = (file: string) => statSync(join(folder, file)).size
const shown = (bytes: number) => `${(bytes / KiB).toFixed(1)} KiB`

/** The first view is the list of files, which is loaded with the shell. */
const first = [...filesOf(ofPage)]
let isWithin = true
for (const kind of ['js', 'css'] as const) {
  const files = first.filter(file => file.endsWith(`.${kind}`))
  if (files.length === 0)
    throw new Error(`The manifest names no ${kind} of the first view: have its sources moved?`)
  const sum = (ending: string) => files.reduce((total, file) => total + sizeOf(file + ending), 0)
  isWithin &&= sum('.gz') <= bounds[kind]
  process.stdout.write(
    `first view, ${kind}: ${shown(sum('.gz'))} gzip of at most ${shown(bounds[kind])}, ${shown(sum('.br'))} brotli, ${shown(sum(''))} plain\n`,
  )
  for (const file of files)
    process.stdout.write(`  ${shown(sizeOf(`${file}.gz`)).padStart(10)}  ${file}\n`)
}
process.exit(isWithin ? 0 : 1)
