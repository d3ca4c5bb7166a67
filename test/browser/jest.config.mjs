import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loading } from '../jest.config.mjs'

const rootDir = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const chromium = process.env.CHROMIUM_PATH || '/usr/bin/chromium'
if (!existsSync(chromium))
  throw new Error(`There is no browser at ${chromium}. Install Debian's package chromium, or set CHROMIUM_PATH.`)

// For the tests, which run in processes of their own.
process.env.TEST_CHROMIUM = chromium
process.env.TEST_SCREENSHOTS ||= mkdtempSync(join(tmpdir(), 'satchel-screenshots-'))
const version = execFileSync(chromium, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** The service as it is built, and a person before a browser. */
export default {
  rootDir,
  testMatch: ['<rootDir>/test/browser/*.test.ts'],
  ...loading,
  globalSetup: '<rootDir>/test/browser/global-setup.mjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/data/'],
  reporters: [
    'default',
    [
      '<rootDir>/test/summary-reporter.mjs',
      { said: `Browser: ${version}. Screenshots in ${process.env.TEST_SCREENSHOTS}` },
    ],
  ],
  testSequencer: '<rootDir>/test/longest-first.mjs',
  maxWorkers: 2,
  testTimeout: 60_000,
}
