import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { inject } from 'postject'
import { build } from 'vite'

const path = (name: string) => new URL(`../../../${name}`, import.meta.url).pathname

/**
 * Marks the place of the script in the executable
 * (https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html).
 */
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/**
 * `npm run build:binary` writes dist/binary/satchel with its licences, for the current platform and
 * Node.js.
 */
const made = path('node_modules/.cache/binary')
const folder = path('dist/binary')
const binary = `${folder}/satchel${process.platform === 'win32' ? '.exe' : ''}`

await build({ configFile: path('src/cli/build/vite.ts'), mode: 'binary' })
const config = {
  main: `${made}/satchel.cjs`,
  output: `${made}/satchel.blob`,
  disableExperimentalSEAWarning: true,
  // NODE_OPTIONS is meant for other programs.
  execArgvExtension: 'none',
}
writeFileSync(`${made}/sea.json`, JSON.stringify(config))
execFileSync(process.execPath, ['--experimental-sea-config', `${made}/sea.json`], {
  stdio: 'ignore',
})

mkdirSync(folder, { recursive: true })
copyFileSync(process.execPath, binary)
chmodSync(binary, 0o755)
const mac = process.platform === 'darwin'
// macOS refuses to run programs with an invalid signature.
if (mac) execFileSync('codesign', ['--remove-signature', binary])
await inject(binary, 'NODE_SEA_BLOB', readFileSync(config.output), {
  sentinelFuse,
  ...(mac ? { machoSegmentName: 'NODE_SEA' } : {}),
})
if (mac) execFileSync('codesign', ['--sign', '-', binary])
copyFileSync(`${made}/licenses.md`, `${folder}/licenses.md`)
copyFileSync(path('LICENSE'), `${folder}/LICENSE`)
