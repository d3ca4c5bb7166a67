// Runs after an installation in this folder, and before it is packed. Plain JavaScript: any version
// of Node.js may run npm.
import { fileURLToPath } from 'node:url'

const configFiles = ['vite.ts', '../../pages/build/vite.ts'].map(name =>
  fileURLToPath(new URL(name, import.meta.url)),
)

// Whatever the environment of who builds it: with another one Vite compiles JSX for React's
// development build.
process.env.NODE_ENV = 'production'

try {
  const { build } = await import('vite')
  // Who installs can do nothing about a warning; npm run build:console and build:pages show them.
  for (const configFile of configFiles) await build({ configFile, logLevel: 'error' })
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
  process.stdout.write(
    'The web console and the script of file requests are not built: that needs the development dependencies. The service runs without them.\n',
  )
}
