import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Task } from './outcome.ts'
import { type ProgramProcess, runProgram } from './program.ts'

const NAME = 'picture'
/** The pictures of a file after the first one, which are discarded. */
const OTHERS = 20
const QUALITY = 85

/**
 * Decodes the main picture of a HEIF file by `heif-convert`, as an upright JPEG. The program writes
 * only to named files, so the name leads to a pipe. It numbers the pictures of a file that has
 * several.
 * @param folder where the names are made
 */
export async function decodeHeif(
  program: string,
  folder: string,
  task: Task,
): Promise<ProgramProcess> {
  const names = await mkdtemp(join(folder, 'heif-'))
  const pipe = join(names, `${NAME}.jpg`)
  await promisify(execFile)('mkfifo', ['-m', '600', pipe])
  await symlink(pipe, join(names, `${NAME}-1.jpg`))
  for (let i = 2; i <= OTHERS; i++) await symlink('/dev/null', join(names, `${NAME}-${i}.jpg`))
  const words = [program, '--quiet', '-q', `${QUALITY}`, task.path, pipe]
  const process = await runProgram(words, task.bounds, { pipe })
  const ended = process.ended.finally(() => rm(names, { recursive: true, force: true }))
  return { ...process, ended }
}
