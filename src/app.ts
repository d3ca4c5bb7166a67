import { hostname } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../db/index.ts'
import { migrate } from '../db/migrate.ts'
import { SEARCH_FILE, SearchIndex } from '../db/search/index.ts'
import { contextMaker } from '../schema/context.ts'
import { schema } from '../schema/index.ts'
import { restSchema } from '../schema/rest/index.ts'
import { callerFinder, findCallerAgain } from './access/credential.ts'
import { createNextcloud } from './apps/nextcloud/nextcloud.ts'
import type { Config, OAuthProvider } from './config/config.ts'
import { localCoordination } from './coordination/local.ts'
import { connectRedis, redisCoordination } from './coordination/redis.ts'
import { createDav, createDavSignIn } from './dav/dav.ts'
import { createDerive } from './derive/derive.ts'
import { createGraphql } from './graphql/yoga.ts'
import { openBrand } from './http/brand.ts'
import { createCallers } from './http/callers.ts'
import { healthDoors } from './http/health.ts'
import { origins } from './http/origin.ts'
import { CLEANUP_LIMIT, createGateway } from './http/server.ts'
import { signedBlobs } from './http/signed-blobs.ts'
import { createThreshold, type DoorPlan } from './http/threshold.ts'
import { createBacklog } from './jobs/backlog.ts'
import { createJobs, type WebhookHabits } from './jobs/index.ts'
import { createLead } from './jobs/lead.ts'
import { createMailer } from './jobs/mail.ts'
import { createReport } from './jobs/report.ts'
import { createSweeper } from './jobs/sweeper.ts'
import { createMcp } from './mcp/mcp.ts'
import { createApiDocument } from './openapi/document.ts'
import { openConsole } from './pages/console.ts'
import { createPages } from './pages/routes.ts'
import { createRestRouter } from './rest/router.ts'
import type { Log } from './runtime/log.ts'
import { createTokens } from './runtime/tokens.ts'
import { within } from './runtime/within.ts'
import { changeRunner } from './services/history/event.ts'
import { createServices, type Services } from './services/index.ts'
import { bindStore, openStoreOf } from './services/installation.ts'
import { maintenanceService } from './services/maintenance.ts'
import { createPubSub } from './services/notices/pub-sub.ts'
import { type MayReach, webhookAddresses } from './services/notices/webhook-address.ts'
import { createAuthorizationServer } from './sign-in/authorization-server.ts'
import { openOwnAccounts } from './sign-in/embedded/accounts.ts'
import { createAuthRoutes } from './sign-in/routes.ts'
import { allReady, ready } from './start.ts'
import { listenForScrapes, type MetricsListener } from './telemetry/listener.ts'
import { openTelemetry } from './telemetry/open.ts'
import { createRecorder } from './telemetry/recorder.ts'
import { createTus } from './tus/tus.ts'
import type { Instance } from './workers/link.ts'

/** The time for which a start waits for the uploads that the previous run was completing. */
const RESUME_MS = 20_000

export interface AppOptions {
  log: Log
  /** Called with every SQL statement, for tests that count them. */
  onStatement?: (sql: string) => void
  webhookHabits?: WebhookHabits
  /** Opens the embedded sign-in once the public URL is known. */
  embeddedSignIn?: (publicUrl: string) => Promise<{ provider: OAuthProvider; door: DoorPlan }>
  /** Milliseconds from a change until it is indexed without a search. Set by tests. */
  indexAfterMs?: number
  /**
   * Shares counters and caches with the other processes of the instance. Undefined for a single
   * process.
   */
  instance?: Instance
  /** Whether the process samples its metrics on a timer. Tests sample explicitly. */
  samplesItself?: boolean
  /** Whether this process runs the start-up tasks of the instance. */
  isFirst?: boolean
}

/** The origin at which this process reaches itself. */
function ownUrlOf(host: string, port: number): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Opens what the services use: the database, the blob store, the telemetry and the like. */
async function openParts(config: Config, { log, onStatement, instance: shared }: AppOptions) {
  const { coordination: instance, history } = shared ?? {
    coordination: localCoordination(),
    history: createRecorder(),
  }
  const observing = await openTelemetry(config, log, history.add)
  const { telemetry } = observing
  const db = openDatabase(config.database, {
    pool: config.databasePool,
    telemetry,
    ...(onStatement ? { onStatement } : {}),
  })
  const store = await ready('blobs', config, () => openStoreOf(config, db, telemetry))
  const derive = createDerive({
    ...config,
    processes: config.deriveProcesses,
    readable: [config.blobDir],
    log,
  })
  const index = new SearchIndex(join(config.dataDir, SEARCH_FILE))
  const coordination = config.redisUrl
    ? redisCoordination(await connectRedis(config.redisUrl, log), instance, log)
    : instance
  const pubSub = createPubSub(coordination)
  return {
    instance,
    history,
    observing,
    telemetry,
    db,
    store,
    derive,
    index,
    coordination,
    pubSub,
    tokens: createTokens(config.secretKey),
    change: changeRunner({ db, pubSub, measures: telemetry }),
  }
}

type Parts = Awaited<ReturnType<typeof openParts>>

/** What the background work and the doors have in common. */
interface Shared {
  config: Config
  options: AppOptions
  parts: Parts
  services: Services
  /** The origin of the service. */
  address: () => string
}

/** Creates the background work, which runs in one process of the instance. */
function createWork(
  { config, options, parts, services }: Shared,
  {
    instanceName,
    mailer,
    mayReach,
  }: { instanceName: string; mailer: ReturnType<typeof createMailer>; mayReach: MayReach },
) {
  const { log, webhookHabits, indexAfterMs, samplesItself = config.figures } = options
  const { instance, history, telemetry, db, store } = parts
  const isPaused = () => services.maintenance.current() !== null
  const { worker, webhooks, searchIndexer } = createJobs({
    ...parts,
    ...services,
    log,
    config,
    mailer,
    mayReach,
    habits: webhookHabits,
    isPaused,
    indexAfterMs,
  })
  const sweeper = createSweeper({
    db,
    store,
    kept: services.kept,
    contents: services.contents,
    log,
    telemetry,
    isPaused,
    everyMs: config.sweepSeconds * 1000,
    eventDays: config.eventDays,
  })
  const report = createReport({ db, history, name: instanceName, store, log })
  const lead = createLead(
    instance,
    { outbox: () => worker.wake(), webhooks: () => webhooks.wake() },
    [
      worker,
      webhooks,
      sweeper,
      services.backgroundCompletions,
      searchIndexer,
      createBacklog(db, telemetry, worker.kinds),
      ...(samplesItself ? [report] : []),
    ],
  )
  return { worker, webhooks, searchIndexer, sweeper, report, lead }
}

/** What the doors share: callers, origins, the brand, and the console that other doors link to. */
async function createEntrance({ config, options: { log }, parts: { db }, address }: Shared) {
  const findCaller = callerFinder(db)
  const brand = openBrand(config.brand)
  return {
    brand,
    findCaller,
    callers: createCallers(findCaller),
    originOf: origins(config.logAddresses),
    ownOrigins: () => [address(), ...config.corsOrigins],
    webConsole: config.console ? await openConsole(log, brand.shown) : undefined,
  }
}

type Entrance = Awaited<ReturnType<typeof createEntrance>>

/**
 * The doors that exist before the public URL is known.
 * @param phase the phase of the gateway, for the health checks
 */
async function createDoors(
  { config, parts, services, address }: Shared,
  { brand, findCaller, callers, ownOrigins, webConsole }: Entrance,
  phase: Parameters<typeof healthDoors>[2],
): Promise<DoorPlan[]> {
  const { telemetry, db, store, coordination } = parts
  const contextOf = contextMaker(services, callers)
  const rest = await createRestRouter(restSchema, callers, contextOf)
  const hasConsole = Boolean(webConsole)
  const graphql = createGraphql(schema, callers, contextOf, {
    graphiql: config.graphiql,
    hasConsole,
    maxCost: config.graphqlMaxCost,
    telemetry,
  })
  const document = createApiDocument(rest.routes, address, {
    proxied: services.downloads.proxied,
    hasConsole,
  })
  const davParts = { services, coordination, telemetry, findCaller, config, publicUrl: address }
  const davDeps = { ...davParts, signIn: createDavSignIn(davParts) }
  return [
    ...healthDoors(db, store, phase),
    ...brand.doors,
    graphql,
    rest.door,
    ...createAuthorizationServer(services, findCaller.byKey, address, config),
    ...document.doors,
    signedBlobs(services),
    createTus({ services, callers, config, store }),
    createDav(davDeps),
    ...(config.nextcloudClients ? createNextcloud({ ...davDeps, brand: brand.shown }) : []),
    ...(config.assistants
      ? createMcp({ findCaller, contextOf, publicUrl: address, ownOrigins })
      : []),
  ]
}

/**
 * The doors that need the public URL: sign-in and pages.
 * @param port at which this process listens
 */
async function createLateDoors(
  { config, options: { log, embeddedSignIn }, parts, services, address }: Shared,
  { brand, findCaller, callers, originOf, webConsole }: Entrance,
  port: number,
): Promise<DoorPlan[]> {
  const { db, tokens, telemetry } = parts
  const { sessions } = services
  const publicUrl = address()
  const secure = publicUrl.startsWith('https:')
  const embedded = await embeddedSignIn?.(publicUrl)
  const own = config.accounts
    ? openOwnAccounts({
        services,
        db,
        tokens,
        publicUrl,
        ownUrl: ownUrlOf(config.host, port),
        secure,
        originOf,
        findCaller,
        otherProviders: config.providers.map(({ name }) => name),
        brand: brand.shown,
        log,
      })
    : undefined
  // The first provider is the default.
  const providers = [own, embedded, ...config.providers.map(provider => ({ provider }))]
    .filter(each => each !== undefined)
    .map(({ provider }) => provider)
  const auth = createAuthRoutes({
    providers,
    sessions,
    accounts: services.accounts,
    groupMemberships: services.groupMemberships,
    tokens,
    publicUrl: address,
    secure,
    allowedOrigins: config.corsOrigins,
    clientViewer: findCaller,
    log,
    measures: telemetry,
  })
  const pages = createPages({
    services,
    sessions,
    tokens,
    publicUrl: address,
    callers,
    providers: providers.map(provider => provider.name),
    graphiql: config.graphiql,
    assistants: config.assistants,
    apps: config.nextcloudClients,
    brand: brand.shown,
    console: webConsole,
    secure,
  })
  return [auth, ...(embedded ? [embedded.door] : []), ...(own?.doors ?? []), pages]
}

/**
 * Creates the components and injects their dependencies. `start` adds sign-in and pages, because
 * they need the public URL. Without PUBLIC_URL, that URL is known only once the service listens.
 */
export async function createApp(config: Config, options: AppOptions) {
  const { log, samplesItself = config.figures } = options
  const instanceName = `${hostname()}:${config.port}`
  // Only one instance uses SQLite. A new container may give it another host name.
  const instanceKey = config.database.dialect === 'sqlite' ? 'only' : instanceName
  let { publicUrl } = config
  const address = () => publicUrl
  const parts = await openParts(config, options)
  const { observing, telemetry, db, store, derive, index, coordination, pubSub } = parts
  const { metrics, sampler } = observing
  const mailer = createMailer(config, telemetry)
  const mayReach = webhookAddresses(config.webhookAllowAddresses)
  const wake = () => lead.wake('outbox')
  const maintenance = maintenanceService({ db, coordination, telemetry, wake })
  const services = createServices({
    ...parts,
    maintenance,
    log,
    config,
    mayReach,
    publicUrl: address,
    instanceName,
    instanceKey,
    findCaller: credential => findCallerAgain(db, credential),
    wake,
    wakeWebhooks: () => lead.wake('webhooks'),
  })
  const shared = { config, options, parts, services, address }
  const { worker, webhooks, searchIndexer, sweeper, report, lead } = createWork(shared, {
    instanceName,
    mailer,
    mayReach,
  })

  const entrance = await createEntrance(shared)
  const threshold = createThreshold({ maintenance, ownOrigins: entrance.ownOrigins })
  const plans = await createDoors(shared, entrance, () => gateway.phase)
  const gateway = createGateway({
    config,
    uploadMemory: store.uploadMemory,
    coordination,
    publicUrl: address,
    log,
    telemetry,
    originOf: entrance.originOf,
    doors: plans.map(threshold),
    ...(sampler ? { noteFailure: sampler.note } : {}),
  })

  let listener: MetricsListener | undefined
  return {
    services,
    pubSub,
    db,
    store,
    worker,
    webhooks,
    sweeper,
    derive,
    searchIndexer,
    index,
    gateway,
    publicUrl: address,

    /** Samples what this process has done. Undefined if no samples are kept. */
    sampler,
    report,
    /** The metrics of this process. Undefined while metrics are off. */
    figures: metrics?.figures,
    /** The port on which this process serves metrics, if any. */
    metricsPort: () => listener?.port,

    /**
     * Migrates the tables, listens, and starts the work. In an instance of several processes,
     * `lead` must be called in one of them. Returns the public address.
     * @throws StartError
     */
    async start(): Promise<string> {
      await allReady([
        ready('database', config, async () => {
          await db.ping()
          await migrate(db)
          if (options.isFirst ?? true)
            log.info({ database: await db.product() }, 'the database is ready')
        }),
        ready('blobs', config, () => store.prepare()),
      ])
      await ready('blobs', config, () => bindStore(db, store))
      await ready('database', config, () => maintenance.begin())
      const port = await ready('address', config, () => gateway.listen(config.host, config.port))
      const { metrics: scrapes } = config
      if (metrics && scrapes && !options.instance)
        listener = await ready('metrics', config, () =>
          listenForScrapes(scrapes, metrics.text, log),
        )
      publicUrl ||= `http://localhost:${port}`
      // Some accounts do not let their key write CORS rules. Without the rules, only direct uploads
      // from browsers fail.
      if (config.blobCors && (options.isFirst ?? true))
        await store.addresses
          ?.allowOrigins([...new Set([publicUrl, ...config.corsOrigins])])
          .catch(error =>
            log.warn({ err: error }, 'could not write the CORS rule of the blob store'),
          )
      for (const plan of await createLateDoors(shared, entrance, port))
        gateway.mount(threshold(plan))
      // A client whose last bytes have arrived finds its file, even after a kill.
      if (options.isFirst ?? true) await services.backgroundCompletions.resume(RESUME_MS)
      if (!options.instance) lead.begin()
      gateway.open()
      if (samplesItself) sampler?.start()
      return publicUrl
    },

    /** Starts the jobs. One process of an instance leads. A single process leads from the start. */
    lead: () => lead.begin(),

    /**
     * Keeps serving until proxies have noticed the shutdown. Then requests and jobs finish by one
     * deadline, and everything is closed.
     * @param hurry skips the wait for proxies
     */
    async stop(hurry?: AbortSignal): Promise<void> {
      await gateway.drain(config.drainSeconds * 1000, hurry)
      const until = Date.now() + config.shutdownSeconds * 1000
      services.subscriptions.stop()
      maintenance.stop()
      const endJobs = () =>
        lead.stop(error => log.warn({ err: error }, 'a job failed while it was stopped'))
      const ended = endJobs()
      // Otherwise jobs would wait for their pictures until the deadline.
      await derive.stop()
      await gateway.stop(until - Date.now())
      // The last requests may have started completions.
      await within(ended.then(endJobs), Math.max(0, until - Date.now()))
      services.blobs.stop()
      await mailer.close()
      coordination.close()
      listener?.close()
      await within(Promise.all([observing.stop(), index.close(), db.close()]), CLEANUP_LIMIT)
    },
  }
}

export type App = Awaited<ReturnType<typeof createApp>>
