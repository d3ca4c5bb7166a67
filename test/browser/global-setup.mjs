import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemplate } from '../support/templates.ts'
import { pageSources, sources } from './console-sources.ts'

const modified = file => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

function newest(file) {
  if (!statSync(file).isDirectory()) return modified(file)
  return Math.max(...readdirSync(file, { recursive: true }).map(name => modified(join(file, name))))
}

/** Builds the browser bundles if they are older than their sources. */
async function buildParts({ rootDir }) {
  const parts = [
    { made: 'dist/console/index.html', of: sources, by: 'src/console/build/vite.ts' },
    { made: 'dist/pages/manifest.json', of: pageSources, by: 'src/pages/build/vite.ts' },
  ]
  for (const { made, of, by } of parts) {
    const changed = Math.max(...of.map(name => newest(join(rootDir, name))))
    if (modified(join(rootDir, made)) > changed) continue
    const { build } = await import('vite')
    // The production build, because NODE_ENV of the tests would select React's development build.
    const { NODE_ENV } = process.env
    process.env.NODE_ENV = 'production'
    await build({ configFile: join(rootDir, by), logLevel: 'warn' })
    process.env.NODE_ENV = NODE_ENV
  }
}

export default async function setup(config) {
  await makeTemplate('sqlite')
  await buildParts(config)
}
