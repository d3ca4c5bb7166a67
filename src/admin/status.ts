import type { Command } from 'commander'
import type { Db } from '../../db/index.ts'
import type { Config } from '../config/config.ts'
import { table } from '../runtime/table.ts'
import { within } from '../runtime/within.ts'
import { findingsWithout } from '../services/health.ts'
import { openStoreOf } from '../services/installation.ts'
import type { FindingKind } from '../values/finding-kind.ts'
import type { Work } from './plan.ts'

/** The exit code for critical findings. */
const CRITICAL = 3
/** The timeout of the store: a network volume may hang forever. */
const PATIENCE_MS = 10_000

interface Program {
  command: (name: string, description: string) => Command
  run: (work: Work) => Promise<void>
}

/** The store's state; null if it does not respond. */
async function askStore(db: Db, config: Config): Promise<{ freeBytes: number | undefined } | null> {
  let state: { freeBytes: number | undefined } | null = null
  const asked = async () => {
    const store = await openStoreOf(config, db)
    await store.ping()
    state = { freeBytes: (await store.space())?.freeBytes }
  }
  await within(
    asked().catch(() => {}),
    PATIENCE_MS,
  )
  return state
}

async function findingsOf(db: Db, config: Config) {
  const state = await askStore(db, config)
  const more: FindingKind[] = state ? [] : ['storeDown']
  return findingsWithout(db, {
    freeBytes: state?.freeBytes,
    expectsInstances: config.figures,
    more,
  })
}

/** Declares `status`. */
export function statusCommand({ command, run }: Program): void {
  command('status', 'says what is slow, full, failing or waiting, the worst first')
    .addHelpText(
      'after',
      `
It asks the database and the blob store, and reads what the instances of the service last wrote: at once when something is wrong, otherwise every five minutes.
Exit code: ${CRITICAL} if something is critical.`,
    )
    .action(() =>
      run(async (_operator, { db, config }) => {
        const findings = await findingsOf(db, config)
        const isCritical = findings.some(({ severity }) => severity === 'critical')
        const rows = findings.map(({ severity, message }) => [severity, message])
        return {
          fact: { findings },
          words: findings.length ? table(rows) : 'Nothing is wrong.',
          ...(isCritical ? { exitCode: CRITICAL } : {}),
        }
      }),
    )
}
