// Prints the changelog entry of a version, given its tag:
// `node .ci/release-notes.mjs v0.1.0`. Fails if the tag does not match the released version.
import { readFileSync } from 'node:fs'

const version = (process.argv[2] ?? '').replace(/^v/, '')
const read = path => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

for (const path of ['package.json', 'src/cli/package.json'])
  if (JSON.parse(read(path)).version !== version) fail(`${path} is not of version ${version}.`)
for (const key of ['version', 'appVersion'])
  if (
    new RegExp(`^${key}: *"?([^"\\s]+)`, 'm').exec(read('docker/helm/Chart.yaml'))?.[1] !== version
  )
    fail(`docker/helm/Chart.yaml: ${key} is not ${version}.`)

const sections = read('CHANGELOG.md').split(/^## /m)
const notes = sections.find(section => section.split(/[\s\]]/, 1)[0]?.replace('[', '') === version)
if (!notes) fail(`CHANGELOG.md has no section of ${version}.`)
if (/^.*unreleased/.test(notes))
  fail(`CHANGELOG.md calls ${version} unreleased: put the date there.`)
process.stdout.write(`${notes.slice(notes.indexOf('\n')).trim()}\n`)
