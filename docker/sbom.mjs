// Prints the packages that the service is installed with, as a CycloneDX document.
// `npm sbom --omit dev` leaves out packages that a development dependency uses as well, such as
// graphql; so it gets a lock file without development dependencies.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [manifest, lock] = ['package.json', 'package-lock.json'].map(name =>
  JSON.parse(readFileSync(name, 'utf8')),
)
const root = lock.packages['']
for (const one of [manifest, root])
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
  const options = [
    '--package-lock-only',
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
  ]
  process.exitCode =
    spawnSync('npm', ['sbom', ...options], { cwd: dir, stdio: 'inherit' }).status ?? 1
} finally {
  rmSync(dir, { recursive: true })
}
