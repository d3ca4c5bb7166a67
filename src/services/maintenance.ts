import type { Tx } from '../../db/index.ts'
import { SERVICE_LOG } from '../../db/models/event.ts'
import {
  extendUploads,
  findMaintenance,
  putMaintenance,
  removeMaintenance,
} from '../../db/queries/maintenance.ts'
import type { Caller } from '../access/caller.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import { DAY_MS } from '../values/duration.ts'
import { MAX_MAINTENANCE_MESSAGE } from '../values/limits.ts'
import { momentText } from '../values/moment.ts'
import { oneLine } from '../values/one-line.ts'
import type { Core } from './core.ts'
import { operatorOf, recorded } from './history/event.ts'

/** A period with reads but without writes. */
export interface MaintenanceView {
  startedAt: number
  endsAt: number
  /** The operator's message, possibly empty. */
  message: string
}

export interface NewMaintenance {
  endsAt: number
  message?: string | null | undefined
}

/** A later time is probably a typing error. */
const MAX_MS = 366 * DAY_MS
/** After a maintenance, an upload waits this long for its next part, as after any part. */
const UPLOAD_MS = DAY_MS

const CHANNEL = 'satchel:maintenance'
/**
 * The interval at which each process reads the state, because the command line cannot notify it.
 */
const LOOK_MS = 1000

/** The state that everyone may see. */
export const maintenanceSentence = ({ endsAt }: Pick<MaintenanceView, 'endsAt'>): string =>
  `Changes are refused until ${momentText(endsAt)}, because of maintenance. Reading goes on.`

/** Refuses a write. Not an error of the service, so it is not logged as one. */
export class UnderMaintenance extends AppError {
  constructor({ endsAt, message }: MaintenanceView) {
    const seconds = Math.max(1, Math.ceil((endsAt - Date.now()) / 1000))
    super('MAINTENANCE', `${maintenanceSentence({ endsAt })} Try again then.`, {
      retry_after: seconds,
      until: new Date(endsAt).toISOString(),
      ...(message === '' ? {} : { note: message }),
    })
  }
}

function read(
  { endsAt, message }: NewMaintenance,
  now: number,
): { endsAt: number; message: string } {
  const said = oneLine(message ?? '').trim()
  if (said.length > MAX_MAINTENANCE_MESSAGE)
    throw new InvalidInput(
      'message',
      `The message of a maintenance has up to ${MAX_MAINTENANCE_MESSAGE} characters.`,
    )
  if (!(endsAt > now))
    throw new InvalidInput('until', 'A maintenance ends in the future. Give a later time.')
  if (endsAt > now + MAX_MS)
    throw new InvalidInput('until', 'A maintenance ends within a year. Give an earlier time.')
  return { endsAt, message: said }
}

/**
 * The maintenance mode (docs/decisions/maintenance.md). Its state is a row. Each process caches it,
 * so that no request reads it, and refreshes the cache every second and whenever another process
 * announces a change.
 */
export function maintenanceService({
  db,
  coordination,
  telemetry,
  wake = () => {},
}: Core<'db'> & Partial<Core<'coordination' | 'telemetry' | 'wake'>>) {
  let known: MaintenanceView | null = null
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined

  const inForce = (): MaintenanceView | null => (known && known.endsAt > Date.now() ? known : null)

  async function look(): Promise<void> {
    const was = known
    known = (await findMaintenance(db)) ?? null
    // Wakes work that waited for the end.
    if (was && !inForce()) wake()
    if (known && !inForce()) known = null
  }

  /** One read at a time. While the database does not answer, the cached state stays. */
  async function lookAgain(): Promise<void> {
    looking ??= look()
      .catch(() => {})
      .finally(() => {
        looking = undefined
      })
    await looking
  }

  async function changed(): Promise<void> {
    await looking
    await look()
    coordination?.publish(CHANNEL, '')
  }

  coordination?.subscribe(CHANNEL, () => void lookAgain())
  telemetry?.read(() => ({ maintenance: inForce() ? 1 : 0 }))

  return {
    /** The active maintenance, or null. Executes no statement. */
    current: inForce,

    /**
     * Must be called before a request writes anything.
     * @throws MAINTENANCE
     */
    requireWritable(): void {
      const current = inForce()
      if (current) throw new UnderMaintenance(current)
    },

    /** The active maintenance in the database. */
    find: async (): Promise<MaintenanceView | null> => {
      const found = await findMaintenance(db)
      return found && found.endsAt > Date.now() ? found : null
    },

    /**
     * Refuses writes from now on, or changes the end. Uploads that wait for parts wait until a day
     * after the end.
     * @param by the operator; null for the command line of the service
     * @throws INVALID_INPUT
     */
    async start(given: NewMaintenance, by: Caller | null): Promise<MaintenanceView> {
      const now = Date.now()
      const { endsAt, message } = read(given, now)
      const made = await db.transaction(async (tx: Tx) => {
        const before = await findMaintenance(db, tx)
        const startedAt = before && before.endsAt > now ? before.startedAt : now
        const row = { startedAt, endsAt, message, startedBy: by?.userId ?? null }
        await putMaintenance(db, row, tx)
        await extendUploads(db, endsAt + UPLOAD_MS, now, tx)
        await recorded(db, operatorOf(by), tx, async ({ record }) =>
          record(SERVICE_LOG, { kind: 'maintenance.started', subject: null }),
        )
        return row
      })
      await changed()
      return made
    },

    /**
     * Accepts writes again.
     * @param by the operator; null for the command line of the service
     * @returns whether a maintenance was active
     */
    async end(by: Caller | null): Promise<boolean> {
      const ended = await db.transaction(async (tx: Tx) => {
        const was = await removeMaintenance(db, tx)
        if (was)
          await recorded(db, operatorOf(by), tx, async ({ record }) =>
            record(SERVICE_LOG, { kind: 'maintenance.ended', subject: null }),
          )
        return was
      })
      await changed()
      return ended
    },

    /** Reads the state now and then every second. Fails while the database does not answer. */
    async begin(): Promise<void> {
      await look()
      timer = setInterval(lookAgain, LOOK_MS)
      timer.unref()
    },

    stop(): void {
      clearInterval(timer)
    },
  }
}

export type MaintenanceService = ReturnType<typeof maintenanceService>
