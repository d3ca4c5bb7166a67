import { spawn } from 'node:child_process'
import { sleep } from '../../upload-engine/signal.ts'
import { readEvents, type WireEvent } from '../event-page.ts'
import { Failure } from '../failure.ts'
import { placeIn } from '../find-place.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { table, when } from '../table.ts'
import { jsonLine, plain } from '../text.ts'

export interface EventOptions {
  follow?: boolean
  after?: string
  exec?: string
}

/** Polling interval. */
const PAUSE_MS = 2000

/** Prints the stored events of a drive, or follows new events. */
export async function events(
  context: Context,
  workspace: string | undefined,
  { follow = false, after, exec }: EventOptions,
): Promise<Answer | undefined> {
  const place = await placeIn(await open(context), workspace)
  const shown: WireEvent[] = []
  const seen = (cursor: string): string => {
    context.resumeHint = `To continue from here, add --after ${cursor}`
    return cursor
  }
  let cursor = after ?? (follow ? 'now' : '')
  for (;;) {
    const page = await readEvents(place, cursor)
    for (const event of page.events) {
      if (exec !== undefined) await execute(context, exec, event, cursor)
      else if (follow)
        process.stdout.write(context.json ? jsonLine(event) : `${plain(rowOf(event).join('  '))}\n`)
      else shown.push(event)
      cursor = seen(event.cursor)
    }
    cursor = seen(page.cursor)
    if (page.has_more) continue
    if (!follow) break
    await sleep(PAUSE_MS, context.patience.signal)
  }
  if (exec !== undefined) return undefined
  const words = shown.length > 0 ? table(['WHEN', 'EVENT', 'WHAT'], shown.map(rowOf)) : ''
  return { fact: { events: shown, cursor }, words }
}

function rowOf({ kind, happened_at: at, details }: WireEvent): string[] {
  const { path, from, name, recipient } = details
  const what = path ?? name ?? recipient ?? ''
  return [when(at), kind, from === null ? what : `${from} -> ${what}`]
}

/**
 * Runs the user's command for an event. The command gets the event on standard input and never as
 * arguments, because a file name could then inject a command.
 *
 * @throws COMMAND_FAILED when the command fails; INTERRUPTED
 */
async function execute(
  { patience: { signal } }: Context,
  command: string,
  event: WireEvent,
  before: string,
): Promise<void> {
  signal.throwIfAborted()
  const child = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'] })
  const ended = new Promise<string>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, killed) => resolve(killed ?? String(code)))
  })
  // The command may ignore its input.
  child.stdin.on('error', () => {})
  child.stdin.end(jsonLine(event))
  const how = await ended
  signal.throwIfAborted()
  if (how !== '0')
    throw new Failure(
      'COMMAND_FAILED',
      `The command of --exec ended with ${how}. To run it for the same event again, ${before === '' ? 'leave out --after' : `add --after ${before}`}.`,
      { after: before || null },
    )
}
