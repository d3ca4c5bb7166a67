import { readFileSync } from 'node:fs'
import { defineConfig, type Plugin } from 'vite'
import { messages } from '../../language/build/messages.ts'
import { packed } from '../../renderers/build/packed.ts'
import { graphForCache } from './graph-types.ts'
import { shapesOf } from './icons.ts'

const root = new URL('../', import.meta.url)
const path = (name: string) => new URL(name, root).pathname

/** `virtual:graph`: the schema in the form that the cache expects. */
const graph: Plugin = {
  name: 'graph',
  resolveId: id => (id === 'virtual:graph' ? '\0virtual:graph' : undefined),
  load: id => (id === '\0virtual:graph' ? `export default ${graphForCache()}` : undefined),
}

/** `virtual:lucide/NAME`: an icon as a module, so that it is bundled with the code that uses it. */
const lucide: Plugin = {
  name: 'lucide',
  resolveId: id => (id.startsWith('virtual:lucide/') ? `\0${id}` : undefined),
  load(id) {
    const [, name] = /^\0virtual:lucide\/(.+)$/.exec(id) ?? []
    if (!name) return
    const made = `/* @__PURE__ */ icon('${name}', ${JSON.stringify(shapesOf(name))})`
    return {
      code: `import { icon } from '/parts/icon.tsx'\nexport default ${made}`,
      moduleSideEffects: false,
    }
  },
}

const iconOf = (name: string, sizes: string, purpose: string) => ({
  name: `${name}.png`,
  sizes,
  purpose,
})
const icons = [
  iconOf('icon-192', '192x192', 'any'),
  iconOf('icon-512', '512x512', 'any'),
  iconOf('maskable-512', '512x512', 'maskable'),
]

/** The web app manifest, which browsers need to install the console as an app. */
const manifest: Plugin = {
  name: 'manifest',
  generateBundle() {
    const place = (name: string) => {
      const source = readFileSync(path(`icons/${name}`))
      return `/console/${this.getFileName(this.emitFile({ type: 'asset', name, source }))}`
    }
    const app = {
      id: '/',
      name: 'Satchel',
      short_name: 'Satchel',
      description: 'Your files, safely shared.',
      start_url: '/files',
      scope: '/',
      display: 'standalone',
      theme_color: '#f3f5fa',
      background_color: '#f3f5fa',
      share_target: {
        action: '/share-target',
        method: 'POST',
        enctype: 'multipart/form-data',
        params: { files: [{ name: 'files', accept: ['*/*'] }] },
      },
      icons: icons.map(({ name, ...icon }) => ({ src: place(name), type: 'image/png', ...icon })),
    }
    this.emitFile({ type: 'asset', fileName: 'manifest.webmanifest', source: JSON.stringify(app) })
  },
}

/** Modules that every view needs. Their imports are bundled with them. */
const everyView =
  /\/src\/console\/(main|graphql\/live|graphql\/pages|graphql\/run|parts\/entry-icon|screens\/files\/files|uploads\/place)\.tsx?$/

/** Modules that every view shows around its first rows, such as banners. */
const aroundRows = /\/src\/console\/(offline|maintenance)\/banner\.tsx$/

/** Modules that every view loads after its first rows. One file takes one request instead of 30. */
const afterRows =
  /\/src\/console\/(offline\/new-version|parts\/popover-menu|shell\/live|screens\/files\/on-demand\/(dialogs|entry-dialogs)|uploads\/uploads)\.tsx?$/

/**
 * `npm run build:console` writes dist/console: the shell, and content-hashed assets below
 * /console/.
 */
export default defineConfig({
  root: path('.'),
  base: '/console/',
  publicDir: false,
  // Every element of the console is made by shown/jsx-runtime.ts.
  oxc: { jsx: { runtime: 'automatic', importSource: 'shown' } },
  resolve: { alias: { 'shown/jsx-runtime': path('shown/jsx-runtime.ts') } },
  plugins: [graph, lucide, messages, manifest, packed],
  cacheDir: path('../../node_modules/.cache/vite'),
  build: {
    outDir: path('../../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    // These browsers support :dir(). For older ones, Vite would replace it with a list of
    // languages, but a locale may be written in either direction.
    cssTarget: ['chrome120', 'firefox121', 'safari17'],
    // The content security policy forbids data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // `use client` only matters to servers that render React.
      onLog: (level, log, print) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && print(level, log),
      // Puts everything that all views need into one file. Smaller files compress worse.
      input: { index: path('index.html'), 'service-worker': path('worker/service-worker.ts') },
      output: {
        // The URL of a service worker identifies its registration, so it must not change.
        entryFileNames: ({ name }) =>
          name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js',
        codeSplitting: {
          groups: [
            { name: 'base', test: everyView, priority: 4 },
            { name: 'around-rows', test: aroundRows, priority: 3 },
            { name: 'after-rows', test: afterRows, priority: 2 },
            // Otherwise each icon that two parts share would be a file.
            { name: 'icons', test: /virtual:lucide/, minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
})
