import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'

interface Component {
  name: string
  version: string
  hashes?: unknown[]
  licenses?: { license?: { id?: string }; expression?: string }[]
}

const allowed = [
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Unlicense',
  '(MIT OR Apache-2.0)',
]
/**
 * MIT-licensed packages that declare their licence in a form that npm does not read ("licenses"),
 * or, for pause 0.0.1, in the README.
 */
const otherwiseNamed = ['busboy', 'passport-strategy', 'pause', 'streamsearch']
/**
 * libvips is a shared library that is loaded at run time and can be replaced
 * (docs/decisions/libraries.md).
 */
const shared = /^@img\/sharp-/

describe('npm run sbom', () => {
  it('lists every installed package of the service, under an accepted licence', () => {
    const text = execFileSync('npm', ['run', '--silent', 'sbom'], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    const { bomFormat, components }: { bomFormat: string; components: Component[] } =
      JSON.parse(text)
    expect(bomFormat).toBe('CycloneDX')

    const listed = new Set(components.map(({ name, version }) => `${name}@${version}`))
    const lock: Record<
      string,
      { version?: string; dev?: boolean; devOptional?: boolean; optional?: boolean }
    > = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages
    const installed = Object.entries(lock).flatMap(
      ([path, { version, dev, devOptional, optional }]) => {
        const name = path.split('node_modules/').at(-1) ?? ''
        return path.startsWith('node_modules/') && version && !dev && !devOptional && !optional
          ? [`${name}@${version}`]
          : []
      },
    )
    expect(installed.length).toBeGreaterThan(200)
    expect(listed).toContain(`graphql@${lock['node_modules/graphql']?.version}`)
    expect(installed.filter(name => !listed.has(name))).toEqual([])

    const licenceOf = ({ licenses: [first] = [] }: Component) =>
      first?.expression ?? first?.license?.id ?? 'none'
    const accepted = ({ name }: Component) => otherwiseNamed.includes(name) || shared.test(name)
    const others = components.filter(one => !allowed.includes(licenceOf(one)) && !accepted(one))
    expect(others.map(one => `${one.name}: ${licenceOf(one)}`)).toEqual([])
  })
})
