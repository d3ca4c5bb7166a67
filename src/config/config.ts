import { resolve } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { config as readDotEnv } from 'dotenv'
import type { z } from 'zod'
import { type BrandValues, brandSettings, readBrand } from './brand.ts'
import {
  certificatesOf,
  type DatabaseTls,
  type DatabaseTlsValues,
  readDatabaseTls,
} from './database-tls.ts'
import { serversOf } from './database-url.ts'
import { withProviders } from './group-roles.ts'
import { readProgram } from './program.ts'
import { accountsName, embeddedName } from './provider.ts'
import { readProviders } from './provider-setting.ts'
import { settings } from './settings.ts'
import { readMoveFrom, readStore, type StoreValues, storeSettings } from './store-settings.ts'
import { usualProcesses } from './usual-processes.ts'

export { accountsName, embeddedName, type OAuthProvider } from './provider.ts'

type Settings = { [K in keyof typeof settings]: z.output<(typeof settings)[K]['read']> }

/** Maps SWEEP_SECONDS to sweepSeconds. */
type OwnName<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<OwnName<Rest>>}`
  : Lowercase<Name>

const ownName = (name: string) =>
  name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
/** All settings except those of the store and the brand, each of which are read together. */
const underOwnNames = (values: Settings) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name in storeSettings || name in brandSettings ? [] : [[ownName(name), value]],
    ),
  ) as {
    [Name in Exclude<
      keyof Settings,
      keyof (StoreValues & BrandValues)
    > as OwnName<Name>]: Settings[Name]
  }

export type Database =
  | { dialect: 'sqlite'; file: string }
  /** `others` are servers of the same database, in failover order. */
  | { dialect: 'mysql'; url: string; others?: string[]; tls?: DatabaseTls }

/**
 * Thrown when the service cannot start; its message has one line per reason, with the setting to
 * check.
 */
export class StartError extends Error {
  readonly problems: string[]

  constructor(
    problems: string[],
    { because = '', hint = '', cause }: { because?: string; hint?: string; cause?: unknown } = {},
  ) {
    super(
      [
        `Satchel cannot start${because}:`,
        ...problems.map(p => `  - ${p}`),
        ...(hint ? [hint] : []),
      ].join('\n'),
      {
        cause,
      },
    )
    this.name = 'StartError'
    this.problems = problems
  }
}

/** Thrown when settings are wrong. */
export class ConfigError extends StartError {
  constructor(problems: string[]) {
    super(problems, {
      because: ', because its configuration is wrong',
      hint: 'Run with --help to see every setting.',
    })
    this.name = 'ConfigError'
  }
}

export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

/**
 * Reads the settings from an environment.
 * @throws ConfigError that lists all problems
 */
export function readConfig(env: NodeJS.ProcessEnv) {
  const problems: string[] = []
  const read = <K extends keyof Settings>(name: K): Settings[K] => {
    const setting = settings[name]
    const type = setting.read as unknown as z.ZodType<Settings[K]>
    const result = type.safeParse(env[name] || setting.default)
    if (result.success) return result.data
    problems.push(`${name}: ${result.error.issues[0]?.message ?? 'is wrong'}`)
    return type.parse(setting.default)
  }
  const s = Object.fromEntries(
    Object.keys(settings).map(name => [name, read(name as keyof Settings)]),
  ) as Settings
  // Values that are derived below are excluded, so that no setting appears twice.
  const {
    publicUrl,
    dataDir: folder,
    databaseUrl,
    databaseTls: _tls,
    databaseCaFile: _ca,
    databaseCertFile: _cert,
    databaseKeyFile: _key,
    caFile,
    directUploads,
    sessionHours,
    mailsFromOne,
    mailsFromAll,
    rateApiKeys,
    rateDeviceLogins,
    rateSignIns,
    rateSharing,
    rateWorkspaces,
    rateInvites,
    rateLinks,
    rateFileRequestUploads,
    rateProtectedLinks,
    rateFolders,
    rateNotes,
    rateWebhooks,
    rateExports,
    rateAssistants,
    rateSearches,
    graphiql,
    groupRoles,
    drainSeconds,
    deriveProcesses,
    ffmpeg,
    heifConvert,
    linkByEmail,
    nodeEnv,
    signIn,
    metricsHost,
    metricsPort,
    otelExporterOtlpEndpoint,
    otelExporterOtlpHeaders,
    otelServiceName,
    otelTracesSampler,
    otelTracesSamplerArg,
    ...rest
  } = underOwnNames(s)
  const dataDir = resolve(folder)
  const production = nodeEnv === 'production'
  const providers = readProviders(env, problems)
  const origin = publicUrl || (rest.port === 0 ? '' : `http://localhost:${rest.port}`)
  const isHere = origin === '' || isLoopback(origin)
  const accounts =
    signIn === 'accounts' || (signIn === '' && providers.length === 0 && (production || !isHere))
  const providerNames = [...providers.map(({ name }) => name), ...(accounts ? [accountsName] : [])]
  const config = {
    ...rest,
    /**
     * Origin without a trailing slash; empty until the port is known when PORT is 0 and PUBLIC_URL
     * is not set.
     */
    publicUrl: origin,
    /** Whether people sign in with accounts of this service. */
    accounts,
    dataDir,
    database: readDatabase(databaseUrl, s, dataDir, problems),
    /** PEM of additional trusted certificate authorities, one by one. */
    extraCa: certificatesOf('CA_FILE', caFile, problems),
    brand: readBrand(s, problems),
    ...readStore(s, env, dataDir, problems),
    /** The source of a blob move, if one is configured. */
    moveFrom: readMoveFrom(env, problems),
    directUploads: directUploads && rest.downloads === 'redirect',
    sessionSeconds: sessionHours * 3600,
    mailBounds: { fromOne: mailsFromOne, fromAll: mailsFromAll },
    /** Calls per user and window in seconds. */
    rates: {
      api_keys: { max: rateApiKeys, seconds: 60 },
      sign_ins: { max: rateSignIns, seconds: 60 },
      device_logins: { max: rateDeviceLogins, seconds: 60 },
      sharing: { max: rateSharing, seconds: 60 },
      workspaces: { max: rateWorkspaces, seconds: 60 },
      invites: { max: rateInvites, seconds: 60 },
      links: { max: rateLinks, seconds: 60 },
      file_request_uploads: { max: rateFileRequestUploads, seconds: 60 },
      protected_links: { max: rateProtectedLinks, seconds: 60 },
      folders: { max: rateFolders, seconds: 60 },
      notes: { max: rateNotes, seconds: 60 },
      webhooks: { max: rateWebhooks, seconds: 60 },
      searches: { max: rateSearches, seconds: 60 },
      exports: { max: rateExports, seconds: 60 },
      assistants: { max: rateAssistants, seconds: 60 },
    },
    graphiql: graphiql === '' ? !production : graphiql,
    drainSeconds: drainSeconds ?? (production ? 5 : 0),
    deriveProcesses: deriveProcesses ?? usualProcesses(),
    /** The ffmpeg program for video thumbnails; null if there is none. */
    ffmpeg: readProgram('FFMPEG', ffmpeg, env.PATH, problems),
    /** The program that decodes HEIC pictures; null if there is none. */
    heifConvert: readProgram('HEIF_CONVERT', heifConvert, env.PATH, problems),
    /**
     * Whether a verified address links accounts across providers. The embedded provider counts as
     * one, too.
     */
    linkByEmail: linkByEmail === '' ? providerNames.length <= 1 : linkByEmail,
    production,
    providers,
    groupRoles: withProviders(
      groupRoles,
      providerNames.length > 0 ? providerNames : [embeddedName],
      problems,
    ),
    /** The address of the metrics; null if they are off. */
    metrics: metricsPort === undefined ? null : { host: metricsHost, port: metricsPort },
    /** The target and sampling of traces; null if they are off. */
    traces: otelExporterOtlpEndpoint
      ? {
          url: `${otelExporterOtlpEndpoint.replace(/\/+$/, '')}/v1/traces`,
          headers: otelExporterOtlpHeaders,
          serviceName: otelServiceName,
          sampler: otelTracesSampler,
          ratio: otelTracesSamplerArg,
        }
      : null,
  }
  if (config.production && !config.secretKey)
    problems.push('SECRET_KEY: must be set when NODE_ENV is production')
  for (const { name } of providers)
    if (name === accountsName || name === embeddedName)
      problems.push(`OAUTH_${name.toUpperCase()}_CLIENT_ID: choose another name for this provider`)
  if (signIn === 'providers' && providers.length === 0 && (production || !isHere))
    problems.push(
      'SIGN_IN: without a provider (OAUTH_<NAME>_...), the embedded sign-in lets anyone in, so it needs a loopback PUBLIC_URL and no NODE_ENV=production; set SIGN_IN=accounts',
    )
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** The typed configuration of the service. Empty texts mean "use the embedded default". */
export type Config = ReturnType<typeof readConfig>

function readDatabase(
  url: string,
  tlsValues: DatabaseTlsValues,
  dataDir: string,
  problems: string[],
): Database {
  if (url.startsWith('sqlite:'))
    return {
      dialect: 'sqlite',
      file: resolve(url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')),
    }
  if (url) {
    const { url: plain, tls } = readDatabaseTls(
      url.replace(/^mariadb:/, 'mysql:'),
      tlsValues,
      problems,
    )
    const [first, ...others] = serversOf(plain)
    return {
      dialect: 'mysql',
      url: first,
      ...(others.length > 0 ? { others } : {}),
      ...(tls ? { tls } : {}),
    }
  }
  return { dialect: 'sqlite', file: resolve(dataDir, 'satchel.sqlite') }
}

/** The configuration of this process: the environment, completed by a `.env` file. */
export function loadConfig(): Config {
  readDotEnv({ quiet: true })
  const config = readConfig(process.env)
  // Node.js reads NODE_EXTRA_CA_CERTS before a .env file could set it.
  if (config.extraCa) setDefaultCACertificates([...getCACertificates('default'), ...config.extraCa])
  return config
}
