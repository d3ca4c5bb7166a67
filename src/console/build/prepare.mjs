// Runs after `npm install` in this folder and before `npm pack`. Plain JavaScript, because npm may
// run it with any version of Node.js.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const configFiles = ['vite.ts', '../../pages/build/vite.ts'].map(name =>
  fileURLToPath(new URL(name, import.meta.url)),
)

// Overrides the environment: with any other value, Vite would compile JSX for React's development
// build.
process.env.NODE_ENV = 'production'

// The package `node` links its program from a package below it, whose headers (68 MB) nothing
// reads.
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
rmSync(join(modules, 'node/node_modules'), { recursive: true, force: true })

/** Removes the source maps of the packages (137 MB), which nothing reads either. */
function removeMaps(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) removeMaps(path)
    else if (/\.([cm]?[jt]s|css)\.map$/.test(entry.name)) rmSync(path)
  }
}
removeMaps(modules)

try {
  const { build } = await import('vite')
  // Warnings would not help people who install the package. `npm run build:console` and
  // `build:pages` show them.
  for (const configFile of configFiles) await build({ configFile, logLevel: 'error' })
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
  process.stdout.write(
    'The web console and the script of file requests are not built: that needs the development dependencies. The service runs without them.\n',
  )
}
