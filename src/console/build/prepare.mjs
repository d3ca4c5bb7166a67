// Runs after `npm install` in this folder and before `npm pack`. Plain JavaScript, because npm may
// run it with any version of Node.js.
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const configFiles = ['vite.ts', '../../pages/build/vite.ts'].map(name =>
  fileURLToPath(new URL(name, import.meta.url)),
)

// Overrides the environment: with any other value, Vite would compile JSX for React's development
// build.
process.env.NODE_ENV = 'production'

// The package `node` links its program from a package below it, whose headers (68 MB) nothing
// reads.
const headers = new URL('../../../node_modules/node/node_modules', import.meta.url)
rmSync(headers, { recursive: true, force: true })

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
