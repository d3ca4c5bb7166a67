import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig, type Plugin } from 'vite'
import { packed } from '../../renderers/build/packed.ts'

const path = (name: string) => new URL(`../../../${name}`, import.meta.url).pathname

/** Resources that pdf.js loads on demand. The engine for scripts in documents is omitted. */
const pdfResources: Plugin = {
  name: 'pdf-resources',
  generateBundle() {
    const library = new URL('.', import.meta.resolve('pdfjs-dist/package.json'))
    for (const folder of ['cmaps', 'standard_fonts', 'wasm'])
      for (const name of readdirSync(new URL(folder, library)))
        if (!name.startsWith('quickjs'))
          this.emitFile({
            type: 'asset',
            fileName: `pdf/${folder}/${name}`,
            source: readFileSync(new URL(`${folder}/${name}`, library)),
          })
  },
}

/**
 * `npm run build:pages` writes dist/pages, served below /pages/: the uploader of file requests, the
 * renderer of share previews, and the PDF frame.
 */
export default defineConfig({
  root: path('src/pages/sender'),
  base: '/pages/',
  publicDir: false,
  cacheDir: path('node_modules/.cache/vite-pages'),
  plugins: [packed, pdfResources],
  build: {
    outDir: path('dist/pages'),
    emptyOutDir: true,
    assetsDir: '',
    target: 'es2023',
    // The content security policy forbids data: URLs.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    manifest: 'manifest.json',
    rolldownOptions: {
      input: {
        passkey: path('src/pages/passkey/main.ts'),
        sender: path('src/pages/sender/main.ts'),
        preview: path('src/renderers/share-preview/main.ts'),
        'pdf-frame': path('src/renderers/pdf-frame/main.ts'),
      },
      // The page imports its exports.
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
})
