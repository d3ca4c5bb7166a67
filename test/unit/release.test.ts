import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'

const read = (path: string) => readFileSync(resolve(path), 'utf8')
const release = read('.github/workflows/release.yml')
const { version, scripts } = JSON.parse(read('package.json')) as {
  version: string
  scripts: Record<string, string>
}
const jobs = release
  .slice(release.indexOf('\njobs:\n'))
  .split(/^ {2}(?=\w+:$)/m)
  .slice(1)

describe('The release', () => {
  it('pins each action by commit hash, with its version', () => {
    const uses = [...release.matchAll(/uses: (.*)/g)].map(([, used]) => used)
    expect(uses.length).toBeGreaterThan(10)
    for (const used of uses) expect(used).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('gives each job only its permissions, and a time limit', () => {
    expect(release).toMatch(/^permissions: \{\}$/m)
    expect(jobs).toHaveLength(5)
    for (const job of jobs) {
      expect(job).toMatch(/^ {4}permissions:\n {6}contents: (read|write)$/m)
      expect(job).toMatch(/^ {4}timeout-minutes: \d+$/m)
      if (!job.startsWith('publish:')) expect(job).not.toMatch(/contents: write|id-token/)
    }
  })

  it('passes the gate first, and publishes last', () => {
    const needs = Object.fromEntries(
      jobs.map(job => [job.split(':', 1)[0], /^ {4}needs: (.*)$/m.exec(job)?.[1]]),
    )
    expect(needs).toEqual({
      gate: undefined,
      packages: 'gate',
      binaries: 'gate',
      image: 'gate',
      publish: '[packages, binaries, image]',
    })
  })

  it('runs scripts that exist', () => {
    const run = [...release.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(
      ([, name = '']) => name,
    )
    expect(run).toEqual(expect.arrayContaining(['sbom', 'build:binary']))
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(run))
  })

  it('publishes the packed packages once, and a prerelease without the latest tag', () => {
    const script =
      /- run: \|\n((?: {10}.*\n)+)/.exec(jobs.find(job => job.startsWith('publish:')) ?? '')?.[1] ??
      ''
    const dir = mkdtempSync(join(tmpdir(), 'satchel-publish-'))
    // Replaces the registry, which tests must not publish to. It knows one version, and records the
    // published packages.
    writeFileSync(
      join(dir, 'npm'),
      '#!/bin/sh\nif [ "$1" = publish ]; then echo "$*"; elif [ "$2" = satchel@1.0.0 ]; then echo 1.0.0; else exit 1; fi\n',
      { mode: 0o755 },
    )
    const publish = (tag: string) =>
      spawnSync('bash', ['-e', '-c', script], {
        env: { PATH: `${dir}:${process.env.PATH}`, GITHUB_REF_NAME: tag },
      }).stdout.toString()
    const options = '--provenance --access public --tag'
    expect(publish('v1.0.0')).toBe(`publish ./release/satchel-cli-1.0.0.tgz ${options} latest\n`)
    expect(publish('v1.1.0-rc.1')).toBe(
      `publish ./release/satchel-1.1.0-rc.1.tgz ${options} next\npublish ./release/satchel-cli-1.1.0-rc.1.tgz ${options} next\n`,
    )
    rmSync(dir, { recursive: true, force: true })
  })

  it('writes the repository into both packages before packing, for their provenance', () => {
    const packages = jobs.find(job => job.startsWith('packages:')) ?? ''
    const set = [
      ...packages.matchAll(
        /npm pkg set .*"repository\.url=git\+\$GITHUB_SERVER_URL\/\$GITHUB_REPOSITORY\.git"(.*)/g,
      ),
    ]
    expect(set.map(([, rest]) => rest)).toEqual(['', ' --workspace satchel-cli'])
    expect(packages.lastIndexOf('npm pkg set')).toBeLessThan(packages.indexOf('npm pack'))
  })
})

describe('The notes of a release', () => {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-release-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const notes = (tag: string, changelog: string) => {
    mkdirSync(join(dir, 'src/cli'), { recursive: true })
    for (const path of [
      '.ci/release-notes.mjs',
      'package.json',
      'src/cli/package.json',
      'docker/helm/Chart.yaml',
    ])
      cpSync(resolve(path), join(dir, path))
    writeFileSync(join(dir, 'CHANGELOG.md'), changelog)
    const { status, stdout, stderr } = spawnSync(process.execPath, [
      join(dir, '.ci/release-notes.mjs'),
      tag,
    ])
    return { status, out: stdout.toString(), err: stderr.toString() }
  }
  const text = `# Changelog\n\n## ${version} (2026-12-01)\n\n### Added\n\n- This.\n\n## 0.0.1 (2026-01-01)\n\n- That.\n`

  it('are the section of its version', () => {
    expect(notes(`v${version}`, text)).toEqual({
      status: 0,
      out: '### Added\n\n- This.\n',
      err: '',
    })
  })

  it('are refused if the version differs from the packages or has no date', () => {
    expect(notes('v0.0.1', text)).toMatchObject({
      status: 1,
      err: 'package.json is not of version 0.0.1.\n',
    })
    const undated = notes(`v${version}`, text.replace('2026-12-01', 'unreleased'))
    expect(undated).toMatchObject({ status: 1, err: expect.stringContaining('put the date there') })
    expect(notes(`v${version}`, '# Changelog\n').status).toBe(1)
  })

  it('can be created from the current state: all parts have one version', () => {
    expect(
      notes(`v${version}`, read('CHANGELOG.md').replace(' (unreleased)', ' (2026-12-01)')).status,
    ).toBe(0)
  })
})
