import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const written = /\.(?:tsx?|mjs|cjs|css|eta|graphql)$/
/** Files that `npm run update` writes. */
const generated = /\/(?:generated|graph-types\.d)\.ts$|schema\.graphql$/

/** The lines of code below a folder, without its folders that are named for themselves. */
function linesIn(folder: string, apart: readonly string[]): number {
  return readdirSync(root + folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory())
      return entry.name === 'node_modules' || apart.includes(path)
        ? sum
        : sum + linesIn(path, apart)
    if (!written.test(path) || generated.test(path)) return sum
    return sum + readFileSync(root + path, 'utf8').split('\n').length - 1
  }, 0)
}

const foldersOf = (folder: string) =>
  readdirSync(root + folder, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && entry.name !== 'node_modules')
    .map(({ name }) => `${folder}/${name}`)

/** The lines of code of each folder in thousands, the largest first; what has under 500 is left out. */
export function sizes(kind: 'code' | 'tests'): [folder: string, lines: number][] {
  const apart = kind === 'code' ? [...foldersOf('src'), 'schema/rest'] : foldersOf('test')
  const folders = kind === 'code' ? ['schema', 'src', 'db', ...apart] : ['test', ...apart]
  return folders
    .map((folder): [string, number] => [folder, linesIn(folder, apart)])
    .filter(([, lines]) => lines >= 500)
    .map(([folder, lines]): [string, number] => [folder, Math.round(lines / 1000)])
    .sort(([a, linesOfA], [b, linesOfB]) => linesOfB - linesOfA || (a < b ? -1 : 1))
}
