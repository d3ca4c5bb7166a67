// Prints the packages of an installed service as a CycloneDX document: the packages of the lock
// file, or for the npm package, which has no lock file, the installed packages.
// `npm sbom --omit dev` leaves out packages that a development dependency uses as well, such as
// graphql; so this script runs it on a lock file without development dependencies.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application']

const sbom = (folder, ...more) =>
  spawnSync('npm', ['sbom', ...options, ...more], { cwd: folder, stdio: 'inherit' }).status ?? 1

function ofLockFile() {
  const [manifest, lock] = ['package.json', 'package-lock.json'].map(name =>
    JSON.parse(readFileSync(join(root, name), 'utf8')),
  )
  for (const one of [manifest, lock.packages['']])
    for (const key of ['devDependencies', 'workspaces', 'scripts']) delete one[key]
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).filter(
      ([path, { dev, link }]) => !dev && !link && !path.startsWith('src/'),
    ),
  )
  const dir = mkdtempSync(join(tmpdir(), 'satchel-sbom-'))
  try {
    writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(dir, 'package-lock.json'), JSON.stringify(lock))
    return sbom(dir, '--package-lock-only')
  } finally {
    rmSync(dir, { recursive: true })
  }
}

if (existsSync(join(root, 'package-lock.json'))) process.exitCode = ofLockFile()
// A global installation has its packages in our folder, a local one in that of its project.
else
  process.exitCode = sbom(
    existsSync(join(root, 'node_modules/mysql2')) ? root : join(root, '../..'),
  )
