import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Block, blocksOf } from './docs.ts'

const DOCUMENTED = 'http://localhost:8080'
/** Printed after each step. */
const MARK = '\u0001'

/** A step of the walk in docs/walk.md: the command, and its displayed output. */
export interface Step {
  typed: Block
  shown: Block | undefined
}

export function stepsOfWalk(): Step[] {
  const blocks = blocksOf('docs/walk.md', '# Five minutes with Satchel')
  return blocks.flatMap((typed, i) => {
    if (!['sh', 'graphql'].includes(typed.language)) return []
    const next = blocks[i + 1]
    return [{ typed, shown: next && ['json', 'text'].includes(next.language) ? next : undefined }]
  })
}

/**
 * Runs the steps in one shell, which exits at the first failing command. Returns the output of each
 * step. Only the address is replaced.
 * @param dataDir the data of the service, which is `data` in the working directory of the shell
 * @param url of a service that has just been started
 */
export async function take(
  steps: Step[],
  dataDir: string,
  url: string,
): Promise<{ code: number; errors: string; printed: string[] }> {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-walk-'))
  symlinkSync(dataDir, join(dir, 'data'))
  /** Sends the text of GraphiQL as GraphiQL would, with the cookies of the walk. */
  const commandOf = ({ language, text }: Block, i: number) => {
    if (language === 'sh') return text
    const body = join(dir, `${i}.json`)
    writeFileSync(body, JSON.stringify({ query: text }))
    return `curl -s -b jar -H 'Content-Type: application/json' -d @${body} ${DOCUMENTED}/graphql`
  }
  const here = url.replace('127.0.0.1', 'localhost')
  const script = steps.map(({ typed }, i) => `${commandOf(typed, i)}\nprintf '${MARK}'`).join('\n')
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script.replaceAll(DOCUMENTED, here)], {
    cwd: dir,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, errors] = ['', '']
  shell.stdout.on('data', chunk => {
    out += chunk
  })
  shell.stderr.on('data', chunk => {
    errors += chunk
  })
  const [code] = await once(shell, 'close')
  rmSync(dir, { recursive: true, force: true })
  return { code, errors, printed: out.replaceAll(here, DOCUMENTED).split(MARK).slice(0, -1) }
}
