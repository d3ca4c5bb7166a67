import { defineConfig } from 'vite'

const path = (name: string) => new URL(`../../../${name}`, import.meta.url).pathname

/** `npm run build:pages` makes dist/pages: the script that sends files to a file request, which the service serves below /pages/. */
export default defineConfig({
  root: path('src/pages/sender'),
  base: '/pages/',
  publicDir: false,
  cacheDir: path('node_modules/.cache/vite-pages'),
  build: {
    outDir: path('dist/pages'),
    emptyOutDir: true,
    assetsDir: '',
    target: 'es2023',
    // No data: addresses, which the policy refuses.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    manifest: 'manifest.json',
    rolldownOptions: {
      input: { sender: path('src/pages/sender/main.ts') },
      // The page imports what it exports.
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
})
