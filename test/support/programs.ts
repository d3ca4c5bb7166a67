import { spawnSync } from 'node:child_process'
import { it } from '@jest/globals'

export const isInstalled = (program: string): boolean =>
  spawnSync('which', [program], { stdio: 'ignore' }).status === 0

/**
 * Declares tests that need installed programs. Without the programs, the tests are reported as
 * skipped.
 * @throws Error in CI, where `.ci/run` has to install all programs
 */
export function testWith(...programs: string[]): typeof it.skip {
  const missing = programs.filter(program => !isInstalled(program))
  if (missing.length === 0) return it
  if (process.env.CI === 'true') throw new Error(`Not installed: ${missing.join(', ')}.`)
  return it.skip
}
