#!/usr/bin/env node
import { join } from 'node:path'
import { Command } from 'commander'
import { type Db, openDatabase } from '../db/index.ts'
import { countUnmoved, lastMove } from '../db/queries/store-move.ts'
import { SEARCH_FILE } from '../db/search/index.ts'
import { type Config, loadConfig } from './config/config.ts'
import type { Finding } from './doctor/check.ts'
import { examine } from './doctor/run.ts'
import { endWithReader, requireDatabase, wholeNumber } from './runtime/program.ts'
import { programName } from './runtime/program-name.ts'
import { bindStore, openStoreOf } from './services/installation.ts'

const MINUTE = 60_000
/** The maximum number of rounds. A repair may reveal further problems. */
const ROUNDS = 3

const exitCodes = `
Exit code: 0 if all is well, also after a repair; 1 if there are differences; 2 if the check could not run.
It reads the settings of the service (${programName.start} --help), and may run beside it.`

endWithReader()

const options = new Command(programName.doctor)
  .description('Compares the database with the blob store, and the folders with their totals.')
  .option(
    '--repair',
    'repair what is safe to repair; data that a file needs is never removed',
    false,
  )
  .option('--json', 'print one JSON object per line: the findings, then a summary', false)
  .option(
    '--grace <seconds>',
    'minimum age of leftovers to repair; younger ones may belong to a running upload',
    wholeNumber(0),
    3600,
  )
  .addHelpText('after', exitCodes)
  .allowExcessArguments(false)
  .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
  .parse()
  .opts<{ repair: boolean; json: boolean; grace: number }>()

try {
  process.exitCode = (await run(loadConfig())) ? 0 : 1
} catch (error) {
  process.stderr.write(
    `The doctor could not run: ${error instanceof Error ? error.message : error}\n`,
  )
  process.exitCode = 2
}

/** Returns whether everything is well at the end. */
async function run(config: Config): Promise<boolean> {
  requireDatabase(config)
  const db = openDatabase(config.database, { pool: 2, patience: 10 * MINUTE })
  const store = await openStoreOf(config, db)
  try {
    await store.prepare()
    await bindStore(db, store)
    if (store.isMoving) await sayMove(db)
    let sum = { findings: 0, repaired: 0 }
    for (let round = 1; round === 1 || (sum.repaired > 0 && round <= ROUNDS); round++) {
      const installation = {
        db,
        store,
        graceMs: options.grace * 1000,
        searchContents: config.searchContents,
        searchFile: join(config.dataDir, SEARCH_FILE),
      }
      sum = await examine(installation, {
        repair: options.repair,
        onFinding: finding => say(finding, sentence(finding)),
      })
      say(sum, conclusion(sum))
    }
    return sum.findings === sum.repaired
  } finally {
    await db.close()
  }
}

/** Prints the progress of a blob move. */
async function sayMove(db: Db): Promise<void> {
  const last = await lastMove(db)
  if (!last || last.finishedAt !== null) return
  const left = await countUnmoved(db, last.number)
  say(
    { move: { from: last.source, to: last.target, left } },
    `Files are being moved from ${last.source} to ${last.target}: ${left.files} files and ${left.uploads} uploads are left.`,
  )
}

function say(fact: object, words: string): void {
  process.stdout.write(`${options.json ? JSON.stringify(fact) : words}\n`)
}

function sentence({ kind, id, message, repaired }: Finding): string {
  return `${kind} ${id}${repaired ? ' (repaired)' : ''}\n  ${message}`
}

function conclusion({ findings, repaired }: { findings: number; repaired: number }): string {
  if (findings === 0) return 'All is well.'
  const found = `${findings === 1 ? '1 difference' : `${findings} differences`} found`
  if (!options.repair) return `${found}. Run with --repair to repair what is safe to repair.`
  return `${found}, ${repaired} repaired.${repaired > 0 ? ' Checking again.' : ''}`
}
