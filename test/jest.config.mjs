import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { probeEngines } from './runner/engines.mjs'
import { suites } from './runner/suites.mjs'

const rootDir = dirname(dirname(fileURLToPath(import.meta.url)))

// Short processes, and the workers themselves, reuse code that another process has compiled.
process.env.NODE_COMPILE_CACHE ||= join(rootDir, 'node_modules/.cache/node')

// Workers create many short-lived objects. With Node's default of 16 MiB for these, workers spend a
// sixth of their time on garbage collection.
process.execArgv.push('--min-semi-space-size=32', '--max-semi-space-size=64')

/** The loader of modules in tests: runner/shared-modules.cjs. */
export const loading = {
  runtime: '<rootDir>/test/runner/shared-modules.cjs',
  testEnvironment: 'node',
  transform: {},
}

/** Folders that Jest ignores. */
export const notOurs = ['dist', 'data', 'test/node_modules', 'test/azurite/node_modules'].map(
  dir => `<rootDir>/${dir}/`,
)

/**
 * At its end, a worker of half a gigabyte holds nothing open, but a busy machine needs longer than
 * Jest's half a second to free its memory.
 */
export const ends = { workerGracefulExitTimeout: 10_000 }

/** The tests of the suite in TEST_SUITE (runner/suites.mjs), on the available engines. */
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
        // Jest runs each of these files once, whatever the number of projects.
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
      ['<rootDir>/test/runner/summary-reporter.mjs', { said: `${engines.said}${without}`, suite }],
    ],
    ...ends,
    testSequencer: '<rootDir>/test/runner/longest-first.mjs',
    // For two cores: a worker that waits (for time to pass, or for a process) leaves one of them
    // free. In .ci/run, the browser tests run in parallel, with two workers.
    maxWorkers: suite === 'quick' ? (process.env.CI === 'true' ? 2 : 4) : 3,
    // Node keeps some of the modules of each test file. A worker that has grown to this size is
    // replaced, before it spends its time on garbage collection.
    workerIdleMemoryLimit: '1GB',
    // The timeout of a hanging test. It must not be reached on a machine with ten times the load of
    // its cores.
    testTimeout: 300_000,
  }
}
