import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { probeEngines } from './engines.mjs'

const rootDir = dirname(dirname(fileURLToPath(import.meta.url)))

export const transform = {
  '^.+\\.ts$': [
    '@swc/jest',
    { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'es6' }, sourceMaps: 'inline' },
  ],
}

/** One project of tests that need no database, and one for each database engine that answers. */
export default async function config() {
  const engines = await probeEngines()
  const project = (displayName, testMatch, engine) => ({
    rootDir,
    displayName,
    testMatch,
    transform,
    extensionsToTreatAsEsm: ['.ts'],
    testEnvironment: 'node',
    globals: { engine },
    globalSetup: '<rootDir>/test/global-setup.ts',
    globalTeardown: '<rootDir>/test/global-teardown.ts',
    modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/data/'],
    // The command line knows the service by its interface alone: one engine behind that is enough.
    testPathIgnorePatterns: ['/node_modules/', ...(engine === 'mysql' ? ['<rootDir>/test/cli'] : [])],
  })
  return {
    rootDir,
    projects: [
      project('unit', ['<rootDir>/test/unit/**/*.test.ts']),
      ...engines.databases.map(engine =>
        project(engine, ['<rootDir>/test/*.test.ts', '<rootDir>/test/security/*.test.ts'], engine),
      ),
    ],
    reporters: ['default', ['<rootDir>/test/summary-reporter.mjs', { said: engines.said }]],
    maxWorkers: 2,
    // Node keeps some of what each file has loaded; a worker that has grown to this is replaced, before it does little but collect garbage.
    workerIdleMemoryLimit: '1GB',
    testTimeout: 30_000,
  }
}
