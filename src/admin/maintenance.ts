import { InvalidInput } from '../runtime/errors.ts'
import { table } from '../runtime/table.ts'
import { type MaintenanceView, maintenanceService } from '../services/maintenance.ts'
import { momentText } from '../values/moment.ts'
import type { Program } from './plan.ts'

/** "2026-12-01T10:00Z" @throws INVALID_INPUT */
export function readTime(text: string): number {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN
  if (Number.isFinite(at)) return at
  throw new InvalidInput(
    'time',
    `"${text}" is not a valid time. Give a time with its zone, such as 2026-12-01T10:00Z.`,
  )
}

const onWire = ({ startedAt, endsAt, message }: MaintenanceView) => ({
  startedAt: new Date(startedAt).toISOString(),
  until: new Date(endsAt).toISOString(),
  message,
})

const inWords = ({ startedAt, endsAt, message }: MaintenanceView): string =>
  table([
    ['changes are', 'refused'],
    ['since', momentText(startedAt)],
    ['until', momentText(endsAt)],
    ...(message === '' ? [] : [['message', message]]),
  ])

const NONE = 'There is no maintenance: changes are accepted.'

/** Declares the command about the maintenance mode. */
export function maintenanceCommand({ command, run }: Program): void {
  const maintenance = command(
    'maintenance',
    'refuses changes until a time, while reading goes on',
  ).addHelpText(
    'after',
    '\nWithin two seconds, all instances refuse what writes with 503 and Retry-After. It ends at its time by itself; "on" again moves that time.',
  )

  maintenance
    .command('on')
    .description('refuses changes from now on')
    .requiredOption('--until <time>', 'when it ends by itself, such as 2026-12-01T10:00Z')
    .option('--message <text>', 'what everybody is told besides', '')
    .allowExcessArguments(false)
    .action(({ until, message }: { until: string; message: string }) =>
      run(async (_operator, { db }) => {
        const made = await maintenanceService({ db }).start(
          { endsAt: readTime(until), message },
          null,
        )
        return { fact: { maintenance: onWire(made) }, words: inWords(made) }
      }),
    )

  maintenance
    .command('off')
    .description('accepts changes again')
    .allowExcessArguments(false)
    .action(() =>
      run(async (_operator, { db }) => {
        const ended = await maintenanceService({ db }).end(null)
        return { fact: { ended }, words: ended ? 'Changes are accepted again.' : NONE }
      }),
    )

  maintenance
    .command('status')
    .description('shows whether changes are refused, and until when')
    .allowExcessArguments(false)
    .action(() =>
      run(async (_operator, { db }) => {
        const found = await maintenanceService({ db }).find()
        return {
          fact: { maintenance: found && onWire(found) },
          words: found ? inWords(found) : NONE,
        }
      }),
    )
}
