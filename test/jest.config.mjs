import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { probeEngines } from './runner/engines.mjs'
import { suites } from './runner/suites.mjs'

const rootDir = dirname(dirname(fileURLToPath(import.meta.url)))

// Short processes, and the workers themselves, load what another one has compiled.
process.env.NODE_COMPILE_CACHE ||= join(rootDir, 'node_modules/.cache/node')

// Workers make much that lives briefly. With Node's 16 MiB for it they spend a sixth of their time
// on collecting garbage.
process.execArgv.push('--min-semi-space-size=32', '--max-semi-space-size=64')

/** How tests are loaded: runner/shared-modules.cjs. */
export const loading = {
  runtime: '<rootDir>/test/runner/shared-modules.cjs',
  testEnvironment: 'node',
  transform: {},
}

/** Folders in which Jest looks for nothing. */
export const notOurs = ['dist', 'data', 'test/node_modules', 'test/azurite/node_modules'].map(
  dir => `<rootDir>/${dir}/`,
)

/**
 * A worker of half a gigabyte holds nothing open in the end, but a busy machine takes longer than
 * Jest's half a second to free it.
 */
export const ends = { workerGracefulExitTimeout: 10_000 }

/** The tests of the suite in TEST_SUITE (runner/suites.mjs), on the engines that answer. */
export default async function config() {
  const suite = process.env.TEST_SUITE || 'all'
  const engines = await probeEngines()
  const projects = suites[suite].filter(
    ({ engine, isLts, store }) =>
      (!engine || engines.databases.includes(isLts ? 'mysql-lts' : engine)) &&
      (store !== 'azure' || engines.azurite) &&
      (store !== 's3' || engines.s3),
  )
  const without = {
    quick: ' Left to npm run test:all: drills, and other databases than SQLite.',
    rest: ' Left to npm run test:all: the folders nightly/, and most on other databases than SQLite.',
    all: '',
  }[suite]
  return {
    rootDir,
    projects: projects.map(
      ({ name, engine, isLts = false, testMatch, store = 'disk', onlyNamed = '' }) => ({
        rootDir,
        displayName: name,
        testMatch,
        ...loading,
        // For support/rounds.ts, and shared-modules.cjs.
        globals: { engine, isLts, storeUnderTest: store, thorough: suite === 'all', onlyNamed },
        // Jest runs each of these files once, for however many projects.
        ...(engine
          ? {
              globalSetup: `<rootDir>/test/setup/${store === 'disk' ? (isLts ? 'mysql-lts' : engine) : store}.ts`,
              globalTeardown: '<rootDir>/test/setup/teardown.ts',
            }
          : {}),
        modulePathIgnorePatterns: notOurs,
        testPathIgnorePatterns: ['/node_modules/'],
      }),
    ),
    reporters: [
      'default',
      ['<rootDir>/test/runner/summary-reporter.mjs', { said: `${engines.said}${without}` }],
    ],
    ...ends,
    testSequencer: '<rootDir>/test/runner/longest-first.mjs',
    // For two cores: what waits (for time to pass, for a process) leaves one of them free. In
    // .ci/run those in the browser, with two workers, run beside them.
    maxWorkers: suite === 'quick' ? (process.env.CI === 'true' ? 2 : 4) : 3,
    // Node keeps some of what each file has loaded; a worker that has grown to this is replaced,
    // before it does little but collect garbage.
    workerIdleMemoryLimit: '1GB',
    // It ends a test that hangs. A machine with ten times the work of its cores must not reach it.
    testTimeout: 300_000,
  }
}
