import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const LARGE_BYTES = 256 * 1024

/**
 * Compresses every script and style at build time with the best ratio, instead of at each start of
 * the service.
 */
export const packed: Plugin = {
  name: 'packed',
  generateBundle: {
    order: 'post',
    async handler(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (!/\.(m?js|css|svg|png|woff2|webmanifest)$/.test(file.fileName)) continue
        const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source)
        // The best compression takes seconds for large files, and the installation would wait.
        const quality = bytes.length > LARGE_BYTES ? 6 : 10
        const best = { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }
        const [br, gz] = await Promise.all([
          promisify(brotliCompress)(bytes, best),
          promisify(gzip)(bytes, { level: 9 }),
        ])
        this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source: br })
        this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gz })
      }
    },
  },
}
