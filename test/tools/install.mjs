// Installs the packages of each given folder, unless everything in its lock file is already
// installed. Plain JavaScript, because any version of Node.js may run npm.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const packagesOf = file => JSON.parse(readFileSync(file, 'utf8')).packages

/**
 * Whether npm has installed every package of the lock file, including the optional packages for
 * this machine.
 */
function isInstalled(folder) {
  const noted = join(folder, 'node_modules/.package-lock.json')
  if (!existsSync(noted)) return false
  const { '': _, ...wanted } = packagesOf(join(folder, 'package-lock.json'))
  const present = packagesOf(noted)
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      present[path]?.version === version || (optional && !present[path]),
  )
}

for (const folder of process.argv.slice(2)) {
  if (isInstalled(folder)) continue
  const { status, error } = spawnSync('npm', ['ci', '--prefix', folder], {
    stdio: ['ignore', 2, 2],
  })
  if (error) console.error(`npm ci --prefix ${folder}: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}
