#!/usr/bin/env node
import cluster from 'node:cluster'
import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Command, Option } from 'commander'
import manifest from '#package.json' with { type: 'json' }
import type { Db } from '../db/index.ts'
import type { App } from './app.ts'
import { type Config, loadConfig, StartError } from './config/config.ts'
import { describeSettings } from './config/help.ts'
import { collectAfterStart } from './http/collect.ts'
import { createLog, type Log, logStream } from './runtime/log.ts'
import { openBrowser } from './runtime/open-browser.ts'
import { programName } from './runtime/program-name.ts'
import { type MountedSignIn, mountSignIn } from './sign-in/embedded/mount.ts'
import { readOrMakeSecret } from './sign-in/embedded/secrets.ts'
import { ready } from './start.ts'
import { listenForScrapes } from './telemetry/listener.ts'
import { workersOf } from './workers/count.ts'
import type { Gathering } from './workers/gathering.ts'
import { supervise, WORKER } from './workers/supervisor.ts'
import { joinSupervisor, type Supervised } from './workers/worker.ts'

// V8 counts buffers in transit towards the heap. With its default headroom above a small heap, they
// trigger full collections several times a second for seconds on end, and a GiB then costs four
// times the CPU time.
setFlagsFromString('--heap-growing-percent=100')

const program = new Command(programName.start)
  .description('Starts Satchel: file storage and sharing over GraphQL and REST.')
  .helpOption('-h, --help', 'print every setting with its default')
  .addHelpText(
    'after',
    `\nSettings, from the environment or from a file .env:\n${describeSettings()}`,
  )
  .option('--open', 'open Satchel in the browser when it is ready')
  .addOption(new Option(WORKER).hideHelp())
  .allowExcessArguments(false)
  .parse()

await main().catch(error => {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})

async function main(): Promise<void> {
  requireNode()
  const config = loadConfig()
  const log = createLog(config, await logStream(config))
  // An unhandled rejection in one request must not end the process for all requests.
  process.on('unhandledRejection', error =>
    log.error({ err: error }, 'a rejection was not handled'),
  )

  const { workers, because } = workersOf(config)
  const { worker: isWorker } = program.opts<{ worker?: true }>()
  if (because && !isWorker)
    log.warn(
      { workers: config.workers },
      `WORKERS: there ${workers === 1 ? 'is one' : `are ${workers}`}, because ${because}`,
    )
  if (workers > 1 && cluster.isPrimary) {
    supervise({ workers, config, log, gathering: await gatherFigures(config, workers, log) })
    return collectAfterStart()
  }
  const supervised = isWorker ? joinSupervisor(workers) : undefined

  const secretKey = await ready('folder', config, () => prepareFolder(config))
  // The database's connection limit is shared by all workers.
  const databasePool = supervised ? Math.floor(config.databasePool / workers) : config.databasePool
  try {
    await serve({ ...config, secretKey, databasePool }, log, supervised)
  } catch (error) {
    log.debug({ err: error }, 'the start failed')
    throw error
  }
}

/** Collects the metrics of all workers, if metrics are on. */
async function gatherFigures(
  config: Config,
  workers: number,
  log: Log,
): Promise<Gathering | undefined> {
  const { metrics } = config
  if (!metrics) return undefined
  const { createGathering } = await import('./workers/gathering.ts')
  const gathering = createGathering(workers)
  await ready('metrics', config, () => listenForScrapes(metrics, gathering.text, log))
  return gathering
}

/** Older versions of Node lack features that are needed later. npm only warns about that. */
function requireNode(): void {
  const needed = manifest.engines.node.replace('>=', '')
  const found = process.versions.node
  if (Number.parseInt(found, 10) < Number(needed))
    throw new StartError([
      `It needs Node.js ${needed} or newer, and this is ${found}. Install a newer one from https://nodejs.org.`,
    ])
}

/** Creates the data folder if any data is kept in files. @returns the secret key */
async function prepareFolder({
  dataDir,
  database,
  azure,
  s3,
  smtpUrl,
  secretKey,
  providers,
  accounts,
}: Config): Promise<string> {
  const external =
    database.dialect === 'mysql' && (azure || s3) && smtpUrl && (providers.length > 0 || accounts)
  if (external && secretKey) return secretKey
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await access(dataDir, constants.W_OK | constants.X_OK)
  return secretKey || readOrMakeSecret(join(dataDir, 'secret.key'))
}

/** @param supervised this process as one of several workers; undefined for a single process */
async function serve(config: Config, log: Log, supervised?: Supervised): Promise<void> {
  let embedded: MountedSignIn | undefined
  const embeddedSignIn = async (publicUrl: string) => {
    embedded = await mountSignIn({
      publicUrl,
      secretKey: config.secretKey,
      dataDir: config.dataDir,
      log,
    })
    return embedded
  }
  const isFirst = supervised?.isFirst ?? true
  // Everything else is loaded here, so that help and configuration errors appear without delay.
  const { createApp } = await import('./app.ts')
  const app = await createApp(config, {
    log,
    ...(config.providers.length === 0 && !config.accounts ? { embeddedSignIn } : {}),
    ...(supervised ? { instance: supervised.instance, isFirst } : {}),
  })

  let stopping = false
  const hurry = new AbortController()
  const stop = async (signal?: string) => {
    if (stopping) return hurry.abort()
    stopping = true
    if (signal)
      log.info(
        { signal, drain_seconds: config.drainSeconds },
        'stopping: running requests may finish',
      )
    await app.stop(hurry.signal)
    process.exit(0)
  }
  if (supervised) supervised.onStop(stop)
  else for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop)

  if (isFirst) warnOfSettings(config, log)
  const publicUrl = await app.start()
  supervised?.ready(app.lead, app.figures)
  collectAfterStart()
  if (isFirst) await tellHow(config, app, publicUrl, embedded)
}

function warnOfSettings(config: Config, log: Log): void {
  if (config.production && config.signUp === null && config.providers.length > 0)
    log.warn(
      { providers: config.providers.map(p => p.name) },
      'SIGN_UP is not set: every user of a provider may create an account',
    )

  if (config.operators.length > 0 && config.providers.length > 1)
    log.warn(
      { providers: config.providers.map(p => p.name) },
      'OPERATORS: each of these providers can make an account an operator by reporting its address as verified',
    )
}

/** Prints the address of the service, and opens the browser if requested. */
async function tellHow(
  config: Config,
  app: App,
  publicUrl: string,
  embedded?: MountedSignIn,
): Promise<void> {
  const { open } = program.opts<{ open?: true }>()
  // Do not print a sign-in address into a log or file.
  const first = open || process.stdout.isTTY ? embedded?.firstAddress() : undefined
  const shown = process.stdout.isTTY ? first : undefined
  const ways = [
    ...(config.accounts ? ['accounts of this service'] : []),
    ...config.providers.map(p => p.name),
  ]
  const signIn = embedded ? await embeddedWay(embedded, shown) : ways.join(', ')
  const secret = config.accounts ? await app.services.logins.beginFirst() : null
  // Works once, and only while there is no account. An operator may have access only to the log.
  const firstAccount = secret === null ? '' : `${publicUrl}/sign-in/first/${secret}`
  const parts = { database: await databaseOf(config, app.db), blobs: app.store.label, signIn }
  process.stdout.write(welcome(config, publicUrl, shown, parts, firstAccount))
  if (open)
    openBrowser(first ?? (firstAccount || publicUrl), () =>
      process.stderr.write('No browser could be opened. Open the URL above.\n'),
    )
}

/** @param first the address that signs a browser in, if the terminal may show it */
async function embeddedWay({ word }: MountedSignIn, first: string | undefined): Promise<string> {
  const begins = 'embedded: any e-mail address, on this machine only'
  return first
    ? `${begins}\n             every other browser is asked for the word in ${word.file}`
    : `${begins}\n             each new browser is asked for the word ${await word.current()}\n             which is valid once; the next one is in ${word.file}`
}

/** The product as the server reports it: MariaDB is reached by mysql:// URLs, too. */
async function databaseOf({ database }: Config, db: Db): Promise<string> {
  const place =
    database.dialect === 'sqlite' ? `in ${database.file}` : `at ${new URL(database.url).host}`
  return `${await db.product()} ${place}`
}

/**
 * The start message: components, and first steps. Contains no secret except a one-time sign-in that
 * works only on this machine.
 */
function welcome(
  config: Config,
  publicUrl: string,
  first: string | undefined,
  { database, blobs, signIn }: Record<'database' | 'blobs' | 'signIn', string>,
  firstAccount: string,
): string {
  return `
Satchel is up at ${publicUrl}

  Database   ${database}
  Blobs      ${blobs}
  Mail       ${config.smtpUrl ? 'SMTP server, as configured' : `written to ${join(config.dataDir, 'mail')}`}
  Sign-in    ${signIn}
${firstAccount ? `\n  Create the first account, which manages this server, within 24 hours:\n  ${firstAccount}\n` : ''}
  ${first ? `Open       ${first}\n             signs one browser in, within 15 minutes` : `Sign in    ${publicUrl}/login`}
  ${config.graphiql ? 'GraphiQL  ' : 'GraphQL   '} ${publicUrl}/graphql
  REST       ${publicUrl}/api/docs
  WebDAV     ${publicUrl}/dav/

Press Ctrl+C to stop. ${programName.start} --help lists every setting.
`
}
