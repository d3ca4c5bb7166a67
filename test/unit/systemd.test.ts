import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { readConfig } from '../../src/config/config.ts'
import { CLEANUP_LIMIT } from '../../src/http/server.ts'

const unit = readFileSync('docker/systemd/satchel.service', 'utf8')
const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

/** The errors and warnings that systemd reports for a unit, as lines. */
function verify(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-unit-'))
  try {
    const file = join(dir, 'satchel.service')
    writeFileSync(file, text.replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath}`))
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    })
    return `${stdout}${stderr}`
      .split('\n')
      .filter(line => line.includes('satchel.service'))
      .join('\n')
  } finally {
    rmSync(dir, { recursive: true })
  }
}

describe('docker/systemd/satchel.service', () => {
  const withSystemd = hasSystemd ? it : it.skip
  withSystemd('is a unit that systemd understands', () => {
    expect(verify(unit)).toBe('')
    expect(verify(unit.replace('ProtectHome=yes', 'ProtectHome=maybe'))).toContain('protect home')
  })

  it('has a stop timeout longer than that of the service', () => {
    const { drainSeconds, shutdownSeconds } = readConfig({
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://files.example.com',
      SECRET_KEY: 'k'.repeat(64),
      OAUTH_SSO_CLIENT_ID: 'satchel',
      OAUTH_SSO_CLIENT_SECRET: 'secret',
      OAUTH_SSO_AUTHORIZE_URL: 'https://sso.example.com/authorize',
      OAUTH_SSO_TOKEN_URL: 'https://sso.example.com/token',
      OAUTH_SSO_USERINFO_URL: 'https://sso.example.com/userinfo',
    })
    expect(Number(settingOf('TimeoutStopSec'))).toBeGreaterThan(
      drainSeconds + shutdownSeconds + CLEANUP_LIMIT / 1000,
    )
  })

  it('starts a program of the package, which writes only to the documented data folder', () => {
    const { bin } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(Object.keys(bin)).toContain(settingOf('ExecStart')?.replace('/usr/local/bin/', ''))
    expect(settingOf('ProtectSystem')).toBe('strict')
    const guide = readFileSync('docs/operate.md', 'utf8')
    expect(guide).toContain(`DATA_DIR=/var/lib/${settingOf('StateDirectory')}\n`)
    expect(guide).toContain(`${settingOf('WorkingDirectory')}/.env`)
  })
})
