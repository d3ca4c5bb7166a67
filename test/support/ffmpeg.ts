import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readProgram } from '../../src/config/program.ts'

const program = readProgram('FFMPEG', '', process.env.PATH)
if (!program && process.env.CI) throw new Error('ffmpeg is missing. The video tests need it.')

/**
 * The setting for the test services that render thumbnails of videos: Debian's ffmpeg, if it is
 * installed.
 */
export const FFMPEG = program ?? 'false'

/** A video of a test picture, in the format of its file extension. */
export async function testVideo(
  ending: string,
  size: string,
  options: string[] = [],
): Promise<Buffer> {
  const dir = await mkdtemp(join(tmpdir(), 'satchel-video-'))
  try {
    const path = join(dir, `video.${ending}`)
    const input = ['-f', 'lavfi', '-i', `testsrc=size=${size}:duration=2:rate=10`]
    await promisify(execFile)(FFMPEG, ['-v', 'error', ...input, ...options, path])
    return await readFile(path)
  } finally {
    await rm(dir, { recursive: true })
  }
}
