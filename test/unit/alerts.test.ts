import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'

const docker = fileURLToPath(new URL('../../docker/', import.meta.url))
const read = (file: string) => readFileSync(`${docker}${file}`, 'utf8')

const promtool = (...args: string[]) =>
  spawnSync('promtool', args, { cwd: docker, encoding: 'utf8' })
const isInstalled = promtool('--version').status === 0
// Without promtool, these tests are reported as skipped.
const withPromtool = isInstalled || process.env.CI === 'true' ? it : it.skip

describe('docker/alerts.yml', () => {
  const alerts = [...read('alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name)

  withPromtool('is valid; this needs promtool, of the Debian package prometheus', () => {
    const { status, stdout, stderr } = promtool('check', 'rules', 'alerts.yml')
    expect({ status, said: stdout + stderr }).toMatchObject({ status: 0 })
  })

  withPromtool('fires and is silent when alerts.test.yml says so', () => {
    const { status, stdout, stderr } = promtool('test', 'rules', 'alerts.test.yml')
    expect({ status, said: stdout + stderr }).toMatchObject({ status: 0 })
  })

  it('tests each alert both firing and silent', () => {
    const tests = read('alerts.test.yml')
    const named = (word: string) =>
      [...tests.matchAll(new RegExp(`- name: (\\w+) ${word}$`, 'gm'))]
        .map(([, name]) => name)
        .toSorted()
    expect(alerts.length).toBeGreaterThan(15)
    expect(named('fires')).toEqual(alerts.toSorted())
    expect(named('is silent')).toEqual(alerts.toSorted())
  })
})

describe('docker/grafana-dashboard.json', () => {
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as {
    panels: { id: number; title: string }[]
  }

  it('has panels with unique ids and titles', () => {
    expect(panels.length).toBeGreaterThan(30)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length)
  })

  withPromtool('has expressions that Prometheus understands', () => {
    const expressions = [
      ...read('grafana-dashboard.json').matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g),
    ].map(([, text = '']) => JSON.parse(text) as string)
    const rules = expressions.map((expr, i) => ({
      record: `panel:${i}`,
      expr: expr.replaceAll('$job', '.*'),
    }))
    expect(rules.length).toBeGreaterThan(40)
    const dir = mkdtempSync(join(tmpdir(), 'satchel-rules-'))
    const file = join(dir, 'rules.json')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    const { status, stdout, stderr } = promtool('check', 'rules', file)
    rmSync(dir, { recursive: true })
    expect({ status, said: stdout + stderr }).toMatchObject({ status: 0 })
  })
})
