import type { Command } from 'commander'
import type { EventOptions } from '../actions/events.ts'
import { declare, perform } from '../command.ts'

export function declareEvents(program: Command): void {
  const events = declare(program, 'events [workspace]', {
    does: 'list events in your files or in a workspace, or follow new ones',
    details: `--exec runs the command once for each event, one at a time, with the event as JSON on its standard input, and
stops if the command fails. With --json, --follow prints one event per line.
After an interruption, --after continues from a cursor; "now" begins with the next event.`,
    examples: [
      'events',
      'events garden --json',
      'events --follow',
      "events garden --follow --exec 'jq -r .details.path >> changed.txt'",
    ],
  })
    .option('-f, --follow', 'print new events as they happen, until interrupted')
    .option(
      '--after <cursor>',
      'begin after this cursor; the default is the oldest kept event, or with --follow the next new event',
    )
    .option('-x, --exec <command>', 'run this shell command for each event')
  events.action((workspace: string | undefined, options: EventOptions) =>
    perform(events, async context =>
      (await import('../actions/events.ts')).events(context, workspace, options),
    ),
  )
}
