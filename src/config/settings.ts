import { z } from 'zod'
import { brandSettings } from './brand.ts'
import { claimSettings } from './claim-settings.ts'
import { databaseTlsSettings } from './database-tls.ts'
import { serversOf } from './database-url.ts'
import { deriveSettings } from './derive-settings.ts'
import { count, flag, list, origin } from './readers.ts'
import { sharingSettings } from './sharing-settings.ts'
import { storeSettings } from './store-settings.ts'
import { telemetrySettings } from './telemetry-settings.ts'
import { webdavSettings } from './webdav-settings.ts'

const rate = (help: string, perMinute: string) => ({
  help,
  default: perMinute,
  read: count(1, 1_000_000),
})

/** Every setting, with its meaning, default and parser. `--help` prints this table. */
export const settings = {
  HOST: { help: 'address to listen on', default: '127.0.0.1', read: z.string().min(1) },
  PORT: { help: 'port to listen on', default: '8080', read: count(0, 65535) },
  WORKERS: {
    help: 'processes that serve requests, or auto: one per processor, one fewer beside a database on the same machine; always one with SQLite or the embedded sign-in',
    default: '1',
    read: z.literal('auto').or(count(1, 256)),
  },
  PUBLIC_URL: {
    help: 'URL at which clients reach this service',
    default: '',
    shown: 'http://localhost:<PORT>',
    read: origin.or(z.literal('')),
  },
  DATA_DIR: {
    help: 'folder for all data that is kept in files: database, search index, blobs, mails, secrets',
    default: 'data',
    read: z.string().min(1),
  },
  DATABASE_URL: {
    help: 'mysql://user:password@host:port/name, with host:port,host:port for the nodes of a cluster, or sqlite:<file>',
    default: '',
    shown: 'sqlite:<DATA_DIR>/satchel.sqlite',
    read: z
      .string()
      .regex(
        /^(mysql|mariadb):\/\/.+\/.+|^sqlite:.+|^$/,
        'must start with mysql://, mariadb:// or sqlite: and name a database',
      )
      .refine(
        url =>
          !/^(mysql|mariadb):/.test(url) ||
          serversOf(url.replace(/^mariadb/, 'mysql')).every(server => URL.canParse(server)),
        'must name each server as host or host:port, with commas between them',
      ),
  },
  ...databaseTlsSettings,
  DATABASE_POOL: {
    help: 'maximum number of connections to the database',
    default: '10',
    read: count(2, 1000),
  },
  ...storeSettings,
  BLOB_CORS: {
    help: 'allow pages of PUBLIC_URL and of CORS_ORIGINS to exchange bytes with the store: writes one CORS rule into the account of Azure, or into the S3 bucket',
    default: 'true',
    read: flag,
  },
  DOWNLOADS: {
    help: 'redirect: redirect downloads to a signed URL of the blob store (for BLOB_DIR, of this service); proxy: send the bytes through this service',
    default: 'redirect',
    read: z.enum(['redirect', 'proxy']),
  },
  DIRECT_UPLOADS: {
    help: 'allow clients to send the parts of an upload to signed URLs if they ask for it; always off with DOWNLOADS=proxy',
    default: 'true',
    read: flag,
  },
  SIGNED_URL_SECONDS: {
    help: 'seconds for which a signed URL is valid',
    default: '60',
    read: count(1, 86400),
  },
  SIGN_IN: {
    help: 'accounts: people sign in with an e-mail address and a password of this service, or with a provider; providers: only with a provider or, if there is none, with the embedded sign-in of this machine',
    default: '',
    shown:
      'accounts if there is no provider, and PUBLIC_URL is not on this machine or NODE_ENV is production; otherwise providers',
    read: z.enum(['', 'accounts', 'providers']),
  },
  PASSWORDS: {
    help: 'let people sign in to accounts of this service with a password; false allows only passkeys and providers',
    default: 'true',
    read: flag,
  },
  SECOND_FACTOR: {
    help: 'who needs a second factor in addition to the password of an account of this service: nobody, operators or all; a passkey needs none',
    default: 'nobody',
    read: z.enum(['nobody', 'operators', 'all']),
  },
  LINK_BY_EMAIL: {
    help: 'true: trust e-mail addresses from every sign-in provider, so that a verified address signs in to the account with this address; two users of the same provider never share an account',
    default: '',
    shown: 'true with one provider, false with several',
    read: flag.or(z.literal('')),
  },
  ...claimSettings,
  SESSION_HOURS: {
    help: 'hours for which a session is valid',
    default: '24',
    read: count(1, 8760),
  },
  SECRET_KEY: {
    help: 'key from which tokens are derived, the same on all instances; 32 characters or more',
    default: '',
    shown: 'generated once and kept in <DATA_DIR>/secret.key',
    read: z.string().min(32, 'must have 32 characters or more').or(z.literal('')),
  },
  ...brandSettings,
  CA_FILE: {
    help: 'PEM file of certificate authorities to trust in addition to the usual ones, for connections to the database, Redis, mail server, sign-in providers, stores, webhooks and traces',
    default: '',
    shown: 'none',
    read: z.string(),
  },
  SMTP_URL: {
    help: 'smtp://user:password@host:port of the mail server',
    default: '',
    shown: 'mails are written to <DATA_DIR>/mail as .eml files',
    read: z.url({ protocol: /^smtps?$/ }).or(z.literal('')),
  },
  MAIL_FROM: {
    help: 'sender of mails',
    default: 'Satchel <satchel@localhost>',
    read: z.string().min(3),
  },
  MAILS_FROM_ONE: {
    help: 'mails about shares and invites that one user may send to one e-mail address in 24 hours',
    default: '10',
    read: count(0, 1_000_000),
  },
  MAILS_FROM_ALL: {
    help: 'mails about shares and invites that all users together may send to one e-mail address in 24 hours',
    default: '50',
    read: count(0, 1_000_000),
  },
  REDIS_URL: {
    help: 'redis://host:port, to share limits and events between instances',
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
    help: 'proxies whose X-Forwarded-For is trusted: IP addresses or ranges, comma separated, or loopback, linklocal, uniquelocal',
    default: '',
    shown: 'none',
    read: list,
  },
  LINK_DURATION: {
    help: 'how long a new link is valid unless its request says otherwise: 30m, 24h, 7d, 2w, 1mo, 1y, or never',
    default: '24h',
    read: z
      .string()
      .regex(
        /^([1-9][0-9]{0,8}(s|m|h|d|w|mo|y)|never)$/,
        'must be a duration such as 7d, or never',
      ),
  },
  ASSISTANTS: {
    help: 'let assistants that speak MCP search, read and change files at /mcp, with the scopes that each person approves',
    default: 'true',
    read: flag,
  },
  ...sharingSettings,
  RATE_API_KEYS: rate('API keys per user and minute', '10'),
  RATE_DEVICE_LOGINS: rate('device logins per network (/24 or /48) and minute', '30'),
  RATE_SIGN_INS: rate('sign-ins to accounts of this service per network and minute', '120'),
  RATE_SHARING: rate('shares with other people per user and minute', '60'),
  RATE_WORKSPACES: rate('new workspaces per user and minute', '10'),
  RATE_INVITES: rate('invites per user and minute', '30'),
  RATE_LINKS: rate('new public links per user and minute', '120'),
  RATE_PROTECTED_LINKS: rate('new public links with a password per user and minute', '30'),
  RATE_FILE_REQUEST_UPLOADS: rate('files sent to file requests per network and minute', '120'),
  RATE_FOLDERS: rate('new folders per user and minute; API keys count separately', '600'),
  RATE_NOTES: rate('notes per user and minute', '600'),
  RATE_WEBHOOKS: rate('webhook pings and repeated deliveries per user and minute', '30'),
  RATE_SEARCHES: rate('searches per user and minute', '300'),
  RATE_ASSISTANTS: rate('tool calls of assistants per user and minute', '300'),
  RATE_EXPORTS: rate('exports of personal data per user and minute', '5'),
  SUBSCRIPTIONS_PER_USER: {
    help: 'open GraphQL subscriptions per user and instance',
    default: '20',
    read: count(1, 10_000),
  },
  SUBSCRIPTION_CHECK_SECONDS: {
    help: 'seconds after which an idle subscription checks that its session or key is still valid',
    default: '10',
    read: count(1, 3600),
  },
  WEBHOOK_ALLOW_ADDRESSES: {
    help: 'non-public IP addresses and ranges that webhooks may reach, comma separated, such as 10.1.2.0/24',
    default: '',
    shown: 'none: public addresses only',
    read: list.pipe(z.array(z.ipv4().or(z.ipv6()).or(z.cidrv4()).or(z.cidrv6()))),
  },
  GRAPHIQL: {
    help: 'serve GraphiQL at /graphql',
    default: '',
    shown: 'true; false when NODE_ENV is production',
    read: flag.or(z.literal('')),
  },
  ...webdavSettings,
  CONSOLE: {
    help: 'serve the web console at /; without it, the pages for shares, invites and accounts remain',
    default: 'true',
    read: flag,
  },
  GRAPHQL_MAX_COST: {
    help: 'maximum cost of a GraphQL operation: 1 for a value or an object, 5 for an object in a list, 2 for a value in a list; a list is as long as its page',
    default: '400000',
    read: count(1000, 100_000_000),
  },
  LOG_LEVEL: {
    help: 'trace, debug, info, warn, error or silent',
    default: 'info',
    read: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
  },
  LOG_FORMAT: {
    help: 'json: one object per line; pretty: for people; auto: pretty on a terminal, otherwise json',
    default: 'auto',
    read: z.enum(['auto', 'pretty', 'json']),
  },
  OPERATORS: {
    help: 'verified e-mail addresses of the accounts that may manage users, in the web console and over GraphQL, comma separated',
    default: '',
    read: list.pipe(z.array(z.email())),
  },
  LOG_ADDRESSES: {
    help: 'client IP addresses in the log: full; truncated to the network (/24 of IPv4, /48 of IPv6); none',
    default: 'truncated',
    read: z.enum(['full', 'truncated', 'none']),
  },
  ...telemetrySettings,
  LEASE_SECONDS: {
    help: 'seconds after which other instances take over the uploads, mails and purges of a dead instance',
    default: '60',
    read: count(1, 86400),
  },
  UPLOAD_PART_BYTES: {
    help: 'part size of multipart uploads, in bytes; the last part may be smaller',
    default: '4194304',
    read: count(1024, 4194304),
  },
  SWEEP_SECONDS: {
    help: 'seconds between two runs of the sweeper, which deletes expired data',
    default: '15',
    read: count(1, 3600),
  },
  SHUTDOWN_SECONDS: {
    help: 'seconds to wait for running requests and jobs when stopping',
    default: '30',
    read: count(0, 3600),
  },
  DRAIN_SECONDS: {
    help: 'seconds for which a stopping instance still serves requests while /readyz returns 503, so that proxies stop sending requests; must be longer than proxies need to notice',
    default: '',
    shown: '5 with NODE_ENV=production, otherwise 0',
    read: z
      .literal('')
      .transform(() => undefined)
      .or(count(0, 300)),
  },
  CONNECTIONS_PER_ADDRESS: {
    help: 'connections from one client IP address (IPv6: one /64) to an instance; behind a trusted proxy, simultaneous requests',
    default: '1000',
    read: count(1, 1_000_000),
  },
  BODIES_PER_ADDRESS: {
    help: 'unfinished request bodies from one IP address',
    default: '400',
    read: count(1, 1_000_000),
  },
  BODIES_PER_CALLER: {
    help: 'unfinished request bodies of one user',
    default: '256',
    read: count(1, 1_000_000),
  },
  BODY_MEMORY_BYTES: {
    help: 'bytes of memory for all request bodies of an instance together; further requests get 503',
    default: '268435456',
    read: count(2 ** 26, 2 ** 40),
  },
  BODY_SECONDS: {
    help: 'seconds within which a request body that is not an upload must arrive',
    default: '30',
    read: count(1, 3600),
  },
  UPLOAD_MIN_RATE: {
    help: 'minimum speed of an upload in bytes per second, on average over UPLOAD_RATE_SECONDS; a slower one is refused',
    default: '1024',
    read: count(0, 1_000_000),
  },
  UPLOAD_RATE_SECONDS: {
    help: 'seconds over which UPLOAD_MIN_RATE is averaged',
    default: '60',
    read: count(1, 3600),
  },
  RETENTION_DAYS: {
    help: 'days for which the kept data of a deleted account can be reclaimed',
    default: '30',
    read: count(1, 3650),
  },
  EVENT_DAYS: {
    help: 'days for which events are kept; older cursors expire',
    default: '90',
    read: count(1, 3650),
  },
  TRASH_DAYS: {
    help: 'days for which deleted files and folders stay in the trash; 0: they are deleted at once',
    default: '30',
    read: count(0, 3650),
  },
  VERSIONS_KEPT: {
    help: 'versions (replaced contents) that are kept of each file; 0: none',
    default: '20',
    read: count(0, 10_000),
  },
  VERSION_DAYS: {
    help: 'days for which a version is kept; 0: no versions at all',
    default: '90',
    read: count(0, 3650),
  },
  KEPT_PERCENT: {
    help: 'storage for the trash and versions of a drive, in percent of the storage of its plan',
    default: '100',
    read: count(0, 1000),
  },
  ...deriveSettings,
  NODE_ENV: {
    help: 'development, production or test; production refuses a generated secret, and has no embedded sign-in',
    default: 'development',
    // A misspelt "production" must not start with settings that production mode refuses.
    read: z.enum(['development', 'production', 'test'], 'must be development, production or test'),
  },
} as const satisfies Record<
  string,
  { help: string; default: string; shown?: string; read: z.ZodType<unknown, string> | z.ZodType }
>
