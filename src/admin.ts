#!/usr/bin/env node
import { Command } from 'commander'
import { openDatabase } from '../db/index.ts'
import type { AccountRow } from '../db/queries/account.ts'
import { accountCommands } from './admin/account.ts'
import { auditCommand } from './admin/audit.ts'
import { grantCommands } from './admin/grant.ts'
import { maintenanceCommand } from './admin/maintenance.ts'
import { moveBlobsCommand } from './admin/move-blobs.ts'
import { planCommands, toSnake, type Work } from './admin/plan.ts'
import { reindexCommand } from './admin/reindex.ts'
import { statusCommand } from './admin/status.ts'
import { backupCommands } from './backup/commands.ts'
import { loadConfig } from './config/config.ts'
import { AppError } from './runtime/errors.ts'
import { endWithReader, requireDatabase, wholeNumber } from './runtime/program.ts'
import { programName } from './runtime/program-name.ts'
import { size, table } from './runtime/table.ts'
import { accountDeletion } from './services/accounts/account-end.ts'
import { type AccountDetail, operatorService } from './services/accounts/operator.ts'
import { storageReportService } from './services/accounts/storage-report.ts'
import { changeRunner } from './services/history/event.ts'
import { openStoreOf } from './services/installation.ts'

/** Who chose a plan. */
const chooser = { default: 'default', claim: 'a claim', operator: 'an operator' } as const

const exitCodes = `
Users are named by their e-mail address, or by their id.
Exit code: 0 if the command is done; 1 if the command is refused, as for a user or a plan that does not exist; 2 if the database could not be read.
It reads the settings of the service (${programName.start} --help), and works beside it: what it changes takes effect at once.`

endWithReader()

const program = new Command(programName.admin)
  .description('Manages the users of Satchel, and its backups.')
  .option('--json', 'print one JSON object instead of text', false)
  .addHelpText('after', exitCodes)
  .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
  .configureHelp({ showGlobalOptions: true })

const limitOption = ['--limit <n>', 'maximum number of accounts', wholeNumber(1), 100] as const

command('users', 'lists accounts, oldest first')
  .option('--search <text>', 'only accounts whose address or name contains this text', '')
  .option(...limitOption)
  .option(
    '--over',
    'only accounts that store more than their limits allow, themselves or in a workspace that they own',
    false,
  )
  .action(({ limit, ...filter }: { search: string; over: boolean; limit: number }) =>
    run(async operator => {
      const { users, total } = await operator.users(filter, limit)
      const more =
        total > users.length ? `\n${total - users.length} more; see --limit and --search.` : ''
      return {
        fact: { users, total },
        words: `${users.length ? accounts(users) : 'No accounts.'}${more}`,
      }
    }),
  )

command('user <user>', 'shows one account in full').action((named: string) =>
  run(async operator => {
    const user = await operator.user(named)
    return { fact: { user }, words: detail(user) }
  }),
)

command(
  'suspend <user>',
  'ends the sessions of an account, and disables its keys and links',
).action((named: string) =>
  run(async operator => {
    const user = await operator.suspend(named)
    return {
      fact: { user },
      words: `${user.email} is suspended. Sessions have ended; keys and links do not work until it is restored.`,
    }
  }),
)

command('restore <user>', 'restores a suspended account; its keys and links work again').action(
  (named: string) =>
    run(async operator => {
      const user = await operator.restore(named)
      return {
        fact: { user },
        words: `${user.email} is active. Keys and links work again; browsers have to sign in again.`,
      }
    }),
)

command('delete-user <user>', 'deletes an account, as its owner could do it')
  .requiredOption('--confirm <address>', 'the e-mail address of the account, as a confirmation')
  .option('--delete-files', 'delete the files now, instead of keeping them for a while', false)
  .action((named: string, options: { confirm: string; deleteFiles: boolean }) =>
    run(async (operator, { db, config }) => {
      const { id } = await operator.user(named)
      const { confirm: email, deleteFiles: deleteData } = options
      const change = changeRunner({ db })
      const { retentionDays } = config
      const deletion = accountDeletion({ db, change, retentionDays, wake: () => {} })
      const ended = await deletion.endFor(id, { email, deleteData }, null)
      const until = ended.keptUntil === null ? null : time(ended.keptUntil)
      return {
        fact: { deleted: { id, email: ended.email, filesKeptUntil: until } },
        words: `${ended.email} is deleted. ${until ? `The files are kept until ${until}, for the same verified address.` : 'The files are deleted.'}`,
      }
    }),
  )

command('usage', 'shows the storage used by each account, largest first')
  .option(...limitOption)
  .action((options: { limit: number }) =>
    run(async operator => {
      const usage = await operator.usage(options.limit)
      const rows = usage.workspaces.map(w => [
        w.name,
        w.slug,
        w.owner,
        ...fill(w),
        `${w.files} files`,
      ])
      const { kept, total } = usage
      const words = [
        `Users\n${usage.users.length ? accounts(usage.users) : '  none'}`,
        `Workspaces\n${rows.length ? table([['NAME', 'SLUG', 'OWNER', 'USED', 'OF', ''], ...rows]) : '  none'}`,
        `Kept for deleted accounts: ${size(kept.usedBytes)} in ${kept.files} files of ${kept.areas} accounts.`,
        `Total: ${size(total.usedBytes)} in ${total.files} files.`,
      ]
      return { fact: usage, words: words.join('\n\n') }
    }),
  )

command('storage', 'shows used and free storage').action(() =>
  run(async (_operator, { db, config }) => {
    const report = storageReportService({ db, store: await openStoreOf(config, db) })
    const [totals, space] = [await report.totals(), await report.space()]
    const rows = [
      ['files', size(totals.usedBytes), `${totals.fileCount} files, ${totals.folderCount} folders`],
      ['  left by deleted accounts', size(totals.leftBytes), `${totals.leftFileCount} files`],
      ['in the trash', size(totals.trashBytes), `${totals.trashCount} files and folders`],
      ['versions of files', size(totals.versionBytes)],
      ['uploads under way', size(totals.uploadBytes), `${totals.uploadCount} uploads`],
      ['to be deleted', size(totals.deletingBytes), `${totals.deletingCount} objects`],
      ...(space
        ? [['free on the disk', size(space.freeBytes), `of ${size(space.totalBytes)}`]]
        : []),
      ['events kept', String(totals.eventCount)],
    ]
    return { fact: { ...totals, space }, words: table(rows) }
  }),
)

planCommands({ command, run })
accountCommands({ command, run })
maintenanceCommand({ command, run })
auditCommand({ command, run })
grantCommands({ command, run })

statusCommand({ command, run })
reindexCommand({ command, run })

command('retry-mails', 'sends mails again whose delivery was given up').action(() =>
  run(async operator => {
    const mails = await operator.retryMails()
    return { fact: { mails }, words: `${mails} mails are sent again.` }
  }),
)

backupCommands(program)
moveBlobsCommand(program)

await program.parseAsync()

function command(name: string, description: string): Command {
  return program.command(name).description(description).allowExcessArguments(false)
}

/** Runs one command with the configured database, and prints its result. */
async function run(work: Work): Promise<void> {
  try {
    const config = loadConfig()
    requireDatabase(config)
    const db = openDatabase(config.database, { pool: 2 })
    try {
      const answer = await work(operatorService({ db, publicUrl: () => config.publicUrl }), {
        db,
        config,
      })
      if (!answer) return
      const { fact, words, exitCode } = answer
      const { json } = program.opts<{ json: boolean }>()
      process.stdout.write(`${json ? JSON.stringify(onWire(fact)) : words}\n`)
      if (exitCode) process.exitCode = exitCode
    } finally {
      await db.close()
    }
  } catch (error) {
    // Others are of what does not answer.
    const refused = error instanceof AppError && error.status < 500
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${refused ? '' : 'The database could not be read: '}${message}\n`)
    process.exitCode = refused ? 1 : 2
  }
}

/** As the interface writes it: names in snake_case, times in RFC 3339. */
function onWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(onWire)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, v]) => [
      toSnake(name),
      (name === 'createdAt' || name === 'retiredAt') && typeof v === 'number' ? time(v) : onWire(v),
    ]),
  )
}

function time(at: number): string {
  return new Date(at).toISOString()
}

function accounts(users: AccountRow[]): string {
  const rows = users.map(u => [
    u.emailVerified ? u.email : `${u.email} (unverified)`,
    u.name,
    u.plan,
    u.status,
    ...fill(u),
    `${u.files} files`,
    time(u.createdAt).slice(0, 10),
  ])
  return table([['E-MAIL', 'NAME', 'PLAN', 'STATUS', 'USED', 'OF', '', 'SINCE'], ...rows])
}

function detail(user: AccountDetail): string {
  const facts = [
    ['id', user.id],
    ['e-mail', `${user.email}${user.emailVerified ? '' : ' (unverified)'}`],
    ['name', user.name],
    ['plan', `${user.plan} (chosen by ${chooser[user.planBy]})`],
    ['status', user.status],
    ['since', time(user.createdAt)],
    ['stores', `${fill(user).join(' of ')} in ${user.files} files`],
    ...user.identities.map(i => [
      'signs in by',
      `${i.provider} as ${i.providerUserId} (${i.email})`,
    ]),
    ...user.workspaces.map(w => ['workspace', `${w.name} (${w.slug}), ${w.role}`]),
    ['sessions', String(user.sessions)],
    ['API keys', String(user.apiKeys)],
    ['shares', String(user.shares)],
  ]
  return table(facts)
}

function fill({ usedBytes, maxBytes }: { usedBytes: number; maxBytes: number }): string[] {
  return [size(usedBytes), size(maxBytes)]
}
