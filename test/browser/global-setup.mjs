import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemplate } from '../templates.ts'
import { sources } from './console-sources.ts'

const modified = file => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

function newest(file) {
  if (!statSync(file).isDirectory()) return modified(file)
  return Math.max(...readdirSync(file, { recursive: true }).map(name => modified(join(file, name))))
}

/** Builds the web console, where it is older than its sources. */
async function buildConsole({ rootDir }) {
  const changed = Math.max(...sources.map(name => newest(join(rootDir, name))))
  if (modified(join(rootDir, 'dist/console/index.html')) > changed) return
  const { build } = await import('vite')
  // As it is shipped: with the NODE_ENV of the tests, React would be that for development.
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  await build({ configFile: join(rootDir, 'src/console/build/vite.ts'), logLevel: 'warn' })
  process.env.NODE_ENV = NODE_ENV
}

export default async function setup(config) {
  await makeTemplate('sqlite')
  await buildConsole(config)
}
