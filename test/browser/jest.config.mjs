import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ends, loading, notOurs } from '../jest.config.mjs'
import { inBrowser } from '../runner/suites.mjs'

const rootDir = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const { env } = process
/** Whether the nightly tests run, which need every browser. */
const isWhole = env.TEST_SUITE !== 'rest'
const chromium = env.CHROMIUM_PATH || '/usr/bin/chromium'
if (!existsSync(chromium))
  throw new Error(
    `There is no browser at ${chromium}. Install Debian's package chromium, or set CHROMIUM_PATH.`,
  )
// The same browser without windows, menus and PDF viewer. Profiles and pages open six times as
// fast.
const shell = env.CHROMIUM_SHELL_PATH || '/usr/bin/chromium-headless-shell'

/** The version that a program prints. */
const versionOf = program =>
  execFileSync(program, ['--version'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

const said = [versionOf(chromium), ...(existsSync(shell) ? ['its headless shell'] : [])]
const missing = []
delete env.TEST_FIREFOX
delete env.TEST_WEBKIT

const firefox = env.FIREFOX_PATH || '/usr/bin/firefox-esr'
if (existsSync(firefox)) {
  said.push(versionOf(firefox))
  env.TEST_FIREFOX = firefox
} else missing.push(`Firefox (no ${firefox}; install firefox-esr, or set FIREFOX_PATH)`)

if (missing.length > 0 && env.CI === 'true' && isWhole)
  throw new Error(`CI needs it; missing: ${missing.join(', ')}`)

// A normal run skips it, because installing WebKitGTK takes longer than its tests.
const isCommand = name => (env.PATH ?? '').split(delimiter).some(dir => existsSync(join(dir, name)))
const [webkit] = globSync('/usr/lib/*/webkit2gtk-4.1/MiniBrowser')
if (webkit && isCommand('WebKitWebDriver') && isCommand('Xvfb')) {
  said.push('WebKitGTK')
  env.TEST_WEBKIT = webkit
} else missing.push('WebKit (install webkit2gtk-driver and xvfb)')

// For the tests, which run in processes of their own.
env.TEST_CHROMIUM = chromium
env.TEST_CHROMIUM_SHELL = existsSync(shell) ? shell : chromium
env.TEST_SCREENSHOTS ||= mkdtempSync(join(tmpdir(), 'satchel-screenshots-'))
const notTested = missing.length > 0 ? ` NOT TESTED: ${missing.join(', ')}.` : ''

const leftSaid = isWhole ? '' : ' Left to npm run test:browser: test/browser/nightly/.'

/** The built service and a browser. */
export default {
  rootDir,
  testMatch: inBrowser(env.TEST_SUITE),
  testPathIgnorePatterns: ['/node_modules/'],
  ...loading,
  globalSetup: '<rootDir>/test/browser/global-setup.mjs',
  globalTeardown: '<rootDir>/test/setup/teardown.ts',
  modulePathIgnorePatterns: notOurs,
  reporters: [
    'default',
    [
      '<rootDir>/test/runner/summary-reporter.mjs',
      {
        said: `Browsers: ${said.join(', ')}.${notTested}${leftSaid} Screenshots in ${env.TEST_SCREENSHOTS}`,
      },
    ],
  ],
  ...ends,
  testSequencer: '<rootDir>/test/runner/longest-first.mjs',
  maxWorkers: 2,
  // As in ../jest.config.mjs.
  testTimeout: 300_000,
}
