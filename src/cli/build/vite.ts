import { builtinModules } from 'node:module'
import { defineConfig } from 'vite'

const path = (name: string) => new URL(`../${name}`, import.meta.url).pathname
const isBuiltIn = (id: string) => id.startsWith('node:') || builtinModules.includes(id)

/**
 * Two forms of the command line:
 * - `npm run build` in src/cli makes dist/ of the package satchel-cli: its actions are chunks that
 *   are loaded when they run, and its
 *   dependencies stay packages,
 * - with `--mode binary`, one CommonJS script with all dependencies, which build/binary.ts puts
 *   into a single executable.
 */
export default defineConfig(({ mode }) => {
  const binary = mode === 'binary'
  return {
    root: path(''),
    publicDir: false,
    cacheDir: path('../../node_modules/.cache/vite-cli'),
    logLevel: 'warn',
    ssr: binary ? { noExternal: true } : { external: true },
    build: {
      ssr: path('main.ts'),
      outDir: binary ? path('../../node_modules/.cache/binary') : path('dist'),
      emptyOutDir: true,
      target: 'node24',
      minify: false,
      license: binary && { fileName: 'licenses.md' },
      rolldownOptions: {
        external: isBuiltIn,
        output: binary
          ? { format: 'cjs', codeSplitting: false, entryFileNames: 'satchel.cjs' }
          : { format: 'es', entryFileNames: 'satchel.js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  }
})
