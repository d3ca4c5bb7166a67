import { resolve } from 'node:path'
import { config as readDotEnv } from 'dotenv'
import { z } from 'zod'

/** One OAuth 2 provider, from the OAUTH_<NAME>_* settings. */
export interface OAuthProvider {
  name: string
  authorizeUrl: string
  tokenUrl: string
  userinfoUrl: string
  clientId: string
  clientSecret: string
  scopes: string[]
}

const flag = z.enum(['true', 'false']).transform(v => v === 'true')
const count = (min: number, max: number) => z.coerce.number().int().min(min).max(max)
const list = z.string().transform(v =>
  v
    .split(',')
    .map(s => s.trim())
    .filter(Boolean),
)
const origin = z.url({ protocol: /^https?$/ }).transform(v => new URL(v).origin)

/** Every setting: what it means, its default, and how its text is read. `--help` prints this table. */
const settings = {
  HOST: { help: 'address to listen on', default: '127.0.0.1', read: z.string().min(1) },
  PORT: { help: 'port to listen on', default: '8080', read: count(0, 65535) },
  PUBLIC_URL: {
    help: 'address under which clients reach this service',
    default: '',
    shown: 'http://localhost:<PORT>',
    read: origin.or(z.literal('')),
  },
  DATA_DIR: {
    help: 'folder of everything embedded: database, blobs, mails, secrets',
    default: 'data',
    read: z.string().min(1),
  },
  DATABASE_URL: {
    help: 'mysql://user:password@host:port/name, or sqlite:<file>',
    default: '',
    shown: 'sqlite:<DATA_DIR>/satchel.sqlite',
    read: z
      .string()
      .regex(
        /^(mysql|mariadb):\/\/.+\/.+|^sqlite:.+|^$/,
        'must start with mysql://, mariadb:// or sqlite: and name a database',
      ),
  },
  DATABASE_POOL: { help: 'connections to the database at most', default: '10', read: count(1, 1000) },
  AZURE_STORAGE_CONNECTION_STRING: {
    help: 'connection string of an Azure Storage account, with its key',
    default: '',
    shown: 'the embedded Azurite in <DATA_DIR>/blobs',
    read: z.string(),
  },
  AZURE_STORAGE_CONTAINER: {
    help: 'container that holds the blobs; made if it is missing',
    default: 'satchel',
    read: z
      .string()
      .regex(/^[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9]$/, 'must be a container name: 3 to 63 of a-z, 0-9 and -'),
  },
  BLOB_PUBLIC_URL: {
    help: 'address of the blob store as clients see it, for signed URLs, when it differs from the one used here',
    default: '',
    shown: 'the blob endpoint of the connection string',
    read: z.url({ protocol: /^https?$/ }).or(z.literal('')),
  },
  DOWNLOADS: {
    help: 'redirect: answer downloads with a signed URL of the store; proxy: stream them through the service',
    default: 'redirect',
    read: z.enum(['redirect', 'proxy']),
  },
  SIGNED_URL_SECONDS: { help: 'life of a signed URL', default: '60', read: count(1, 86400) },
  SESSION_HOURS: { help: 'life of a session', default: '24', read: count(1, 8760) },
  SECRET_KEY: {
    help: 'key that tokens are derived from, the same on all instances; 32 characters or more',
    default: '',
    shown: 'made once and kept in <DATA_DIR>/secret.key',
    read: z.string().min(32, 'must have 32 characters or more').or(z.literal('')),
  },
  SMTP_URL: {
    help: 'smtp://user:password@host:port of the mail server',
    default: '',
    shown: 'mails are written to <DATA_DIR>/mail as .eml files',
    read: z.url({ protocol: /^smtps?$/ }).or(z.literal('')),
  },
  MAIL_FROM: { help: 'sender of mails', default: 'Satchel <satchel@localhost>', read: z.string().min(3) },
  REDIS_URL: {
    help: 'redis://host:port, to share limits between instances',
    default: '',
    shown: 'limits are counted in this process',
    read: z.url({ protocol: /^rediss?$/ }).or(z.literal('')),
  },
  CORS_ORIGINS: {
    help: 'other origins whose pages may call this service with credentials, comma separated',
    default: '',
    read: list.pipe(z.array(origin)),
  },
  TRUST_PROXY: {
    help: 'proxies whose X-Forwarded-For is believed: addresses or ranges, comma separated, or loopback, linklocal, uniquelocal',
    default: '',
    shown: 'none',
    read: list,
  },
  GRAPHIQL: { help: 'serve GraphiQL at /graphql', default: 'true', read: flag },
  LOG_LEVEL: {
    help: 'trace, debug, info, warn, error or silent',
    default: 'info',
    read: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
  },
  UPLOAD_LEASE_SECONDS: {
    help: 'how long an upload whose instance died keeps its reservation',
    default: '60',
    read: count(1, 86400),
  },
  SWEEP_SECONDS: { help: 'how often the sweeper looks for work', default: '15', read: count(1, 3600) },
  SHUTDOWN_SECONDS: { help: 'how long a stop waits for running requests', default: '30', read: count(0, 3600) },
  RETENTION_DAYS: {
    help: 'how long the kept data of a deleted account waits for its owner',
    default: '30',
    read: count(1, 3650),
  },
  NODE_ENV: {
    help: 'production refuses the embedded sign-in and a generated secret',
    default: 'development',
    read: z.string(),
  },
} as const satisfies Record<
  string,
  { help: string; default: string; shown?: string; read: z.ZodType<unknown, string> | z.ZodType }
>

type Settings = { [K in keyof typeof settings]: z.output<(typeof settings)[K]['read']> }

export type Database = { dialect: 'sqlite'; file: string } | { dialect: 'mysql'; url: string }

/** Everything the service can be told, typed. Empty texts mean "use what is embedded". */
export interface Config {
  host: string
  port: number
  /** Origin without a trailing slash; empty until the port is known when PORT is 0 and PUBLIC_URL is not set. */
  publicUrl: string
  dataDir: string
  database: Database
  databasePool: number
  azureConnectionString: string
  azureContainer: string
  blobPublicUrl: string
  downloads: 'redirect' | 'proxy'
  signedUrlSeconds: number
  sessionSeconds: number
  secretKey: string
  smtpUrl: string
  mailFrom: string
  redisUrl: string
  corsOrigins: string[]
  trustProxy: string[]
  graphiql: boolean
  logLevel: Settings['LOG_LEVEL']
  uploadLeaseSeconds: number
  sweepSeconds: number
  shutdownSeconds: number
  retentionDays: number
  production: boolean
  providers: OAuthProvider[]
}

/** Thrown when settings are wrong; its message lists all that is wrong, a line each. */
export class ConfigError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(
      `Satchel cannot start, because its configuration is wrong:\n${problems.map(p => `  - ${p}`).join('\n')}\nRun with --help to see every setting.`,
    )
    this.name = 'ConfigError'
    this.problems = problems
  }
}

const providerField = {
  CLIENT_ID: z.string().min(1),
  CLIENT_SECRET: z.string().min(1),
  AUTHORIZE_URL: z.url({ protocol: /^https?$/ }),
  TOKEN_URL: z.url({ protocol: /^https?$/ }),
  USERINFO_URL: z.url({ protocol: /^https?$/ }),
  SCOPES: z.string().min(1).default('openid email profile'),
}
type ProviderField = keyof typeof providerField
const providerSetting = new RegExp(`^OAUTH_([A-Z0-9_]+?)_(${Object.keys(providerField).join('|')})$`)

function readProviders(env: NodeJS.ProcessEnv, problems: string[]): OAuthProvider[] {
  const named = new Map<string, Map<ProviderField, string>>()
  for (const [key, value] of Object.entries(env)) {
    const [, name, field] = providerSetting.exec(key) ?? []
    if (!name || !field || !value) continue
    named.set(name, (named.get(name) ?? new Map()).set(field as ProviderField, value))
  }
  return [...named].map(([name, given]) => {
    const read = (field: ProviderField) => {
      const result = providerField[field].safeParse(given.get(field))
      if (result.success) return result.data
      problems.push(`OAUTH_${name}_${field}: ${given.has(field) ? result.error.issues[0]?.message : 'is missing'}`)
      return ''
    }
    return {
      name: name.toLowerCase().replaceAll('_', '-'),
      authorizeUrl: read('AUTHORIZE_URL'),
      tokenUrl: read('TOKEN_URL'),
      userinfoUrl: read('USERINFO_URL'),
      clientId: read('CLIENT_ID'),
      clientSecret: read('CLIENT_SECRET'),
      scopes: read('SCOPES').split(/[\s,]+/),
    }
  })
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
 * @throws ConfigError that lists everything that is wrong
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const read = <K extends keyof Settings>(name: K): Settings[K] => {
    const setting = settings[name]
    const result = (setting.read as unknown as z.ZodType<Settings[K]>).safeParse(env[name] || setting.default)
    if (result.success) return result.data
    problems.push(`${name}: ${result.error.issues[0]?.message ?? 'is wrong'}`)
    return setting.default as unknown as Settings[K]
  }
  const s = Object.fromEntries(Object.keys(settings).map(name => [name, read(name as keyof Settings)])) as Settings
  const dataDir = resolve(s.DATA_DIR)
  const config: Config = {
    host: s.HOST,
    port: s.PORT,
    publicUrl: s.PUBLIC_URL || (s.PORT === 0 ? '' : `http://localhost:${s.PORT}`),
    dataDir,
    database: readDatabase(s.DATABASE_URL, dataDir),
    databasePool: s.DATABASE_POOL,
    azureConnectionString: s.AZURE_STORAGE_CONNECTION_STRING,
    azureContainer: s.AZURE_STORAGE_CONTAINER,
    blobPublicUrl: s.BLOB_PUBLIC_URL.replace(/\/+$/, ''),
    downloads: s.DOWNLOADS,
    signedUrlSeconds: s.SIGNED_URL_SECONDS,
    sessionSeconds: s.SESSION_HOURS * 3600,
    secretKey: s.SECRET_KEY,
    smtpUrl: s.SMTP_URL,
    mailFrom: s.MAIL_FROM,
    redisUrl: s.REDIS_URL,
    corsOrigins: s.CORS_ORIGINS,
    trustProxy: s.TRUST_PROXY,
    graphiql: s.GRAPHIQL,
    logLevel: s.LOG_LEVEL,
    uploadLeaseSeconds: s.UPLOAD_LEASE_SECONDS,
    sweepSeconds: s.SWEEP_SECONDS,
    shutdownSeconds: s.SHUTDOWN_SECONDS,
    retentionDays: s.RETENTION_DAYS,
    production: s.NODE_ENV === 'production',
    providers: readProviders(env, problems),
  }
  const connection = config.azureConnectionString
  if (
    connection &&
    connection !== 'UseDevelopmentStorage=true' &&
    !(/AccountName=/.test(connection) && /AccountKey=/.test(connection))
  )
    problems.push('AZURE_STORAGE_CONNECTION_STRING: must hold AccountName and AccountKey (signed URLs need the key)')
  if (config.production && !config.secretKey) problems.push('SECRET_KEY: must be set when NODE_ENV is production')
  if (config.providers.length === 0 && !problems.some(p => /^(OAUTH_|PUBLIC_URL|PORT)/.test(p))) {
    if (config.production)
      problems.push('OAUTH_<NAME>_CLIENT_ID and the rest: a sign-in provider must be set when NODE_ENV is production')
    else if (config.publicUrl && !isLoopback(config.publicUrl))
      problems.push(
        'OAUTH_<NAME>_CLIENT_ID and the rest: the embedded sign-in lets anybody in, so it works on a loopback PUBLIC_URL only',
      )
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function readDatabase(url: string, dataDir: string): Database {
  if (url.startsWith('sqlite:'))
    return { dialect: 'sqlite', file: resolve(url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')) }
  if (url) return { dialect: 'mysql', url: url.replace(/^mariadb:/, 'mysql:') }
  return { dialect: 'sqlite', file: resolve(dataDir, 'satchel.sqlite') }
}

/** The configuration of this process: the environment, completed by a `.env` file. */
export function loadConfig(): Config {
  readDotEnv({ quiet: true })
  return readConfig(process.env)
}

/** What `--help` prints: every setting with its meaning and default. */
export function describeSettings(): string {
  const rows: { name: string; help: string; fallback: string }[] = Object.entries(settings).map(([name, s]) => ({
    name,
    help: s.help,
    fallback: ('shown' in s && s.shown) || s.default || 'none',
  }))
  for (const field of Object.keys(providerField)) {
    rows.push({
      name: `OAUTH_<NAME>_${field}`,
      help:
        field === 'SCOPES'
          ? 'scopes asked of the provider'
          : `${field.toLowerCase().replaceAll('_', ' ')} of the OAuth 2 provider <NAME>`,
      fallback: field === 'SCOPES' ? 'openid email profile' : 'the embedded sign-in provider',
    })
  }
  return rows.map(r => `  ${r.name}\n      ${r.help}\n      default: ${r.fallback}`).join('\n')
}
