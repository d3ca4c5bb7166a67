import type { Command } from 'commander'
import type { EventOptions } from '../actions/events.ts'
import { declare, perform } from '../command.ts'

/** What happened, and what happens. */
export function declareEvents(program: Command): void {
  const events = declare(program, 'events [workspace]', {
    does: 'list what happened in your files or in a workspace, or follow what happens',
    details: `--exec runs the command once for each event, one after the other, with the event as JSON on its input, and
stops when it fails. With --json, --follow prints one event a line.
After an interruption, --after goes on where it was; "now" begins with what happens next.`,
    examples: [
      'events',
      'events garden --json',
      'events --follow',
      "events garden --follow --exec 'jq -r .details.path >> changed.txt'",
    ],
  })
    .option('-f, --follow', 'go on with what happens, until it is interrupted')
    .option(
      '--after <cursor>',
      'begin after this cursor; the default is the oldest event that is kept, or with --follow what happens from now on',
    )
    .option('-x, --exec <command>', 'run this command of the shell for each event')
  events.action((workspace: string | undefined, options: EventOptions) =>
    perform(events, async context => (await import('../actions/events.ts')).events(context, workspace, options)),
  )
}
