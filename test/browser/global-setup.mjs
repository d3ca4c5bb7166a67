import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const modified = file => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
const newest = folder => Math.max(...readdirSync(folder, { recursive: true }).map(name => modified(join(folder, name))))

/** Builds the web console, where it is older than its sources. */
export default async function setup({ rootDir }) {
  const sources = [newest(join(rootDir, 'src/console')), modified(join(rootDir, 'schema/schema.graphql'))]
  if (modified(join(rootDir, 'dist/console/index.html')) > Math.max(...sources)) return
  // As it is shipped: with the NODE_ENV of the tests, React would be that for development.
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  await build({ configFile: join(rootDir, 'src/console/build/vite.ts'), logLevel: 'warn' })
  process.env.NODE_ENV = NODE_ENV
}
