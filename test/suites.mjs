import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Long ones: kills, attacks, thousands of requests, hundreds of processes, service after service,
 * each operation as everybody. `npm test` leaves them to `npm run test:all`.
 */
const drills = [
  'admin',
  'audit',
  'authorization',
  'background-copy',
  'backup',
  'backup-command',
  'backup-drill',
  'backup-faults',
  'bad-connections',
  'bad-uploads',
  'cli-completion',
  'cli-events',
  'cli-file',
  'cli-login',
  'cli-package',
  'cli-request',
  'cli-share',
  'cli-sync',
  'cli-transfer',
  'cli-trash',
  'cli-two-way',
  'cli-upload',
  'cli-versions',
  'cli-workspace',
  'database-tls',
  'dead-parts',
  'doctor',
  'event-drill',
  'frozen-disk',
  'fuzz',
  'galera',
  'hostile-files',
  'isolation-graph',
  'kill',
  'kill-copies',
  'kill-previews',
  'kill-uploads',
  'memory',
  'move-blobs',
  'nginx',
  'pack',
  'races',
  'rate-limit',
  'search-kill',
  'security/database-faults',
  'security/disk-faults',
  'security/file-request-drill',
  'security/graphql-documents',
  'security/guessing',
  'security/half-open',
  'security/password-hashing',
  'security/rolling-restart',
  'start',
  'start-stop',
  'tree-model',
  'two-way-drill',
  'unit/cli-hostile',
  'unit/cli-wire',
  'workers',
  'workers-redis',
  'workspace-races',
  'young-objects',
  'zip-programs',
]

/**
 * What no database has a part in, beyond what others prove on each: requests as such, bytes, pages,
 * programs, and who may what (the rules are of no engine; that queries keep to them is in
 * isolation.test.ts, on each). These run on SQLite.
 */
const anyEngine = [
  'auth',
  'background-copy',
  'backup-command',
  'bad-connections',
  'bad-documents',
  'bad-forms',
  'bad-graphql-forms',
  'bad-graphql-requests',
  'bad-json',
  'bad-paths',
  'bad-queries',
  'bad-uploads',
  'bad-workspace-paths',
  'cli',
  'cli-completion',
  'cli-events',
  'cli-file',
  'cli-login',
  'cli-package',
  'cli-request',
  'cli-share',
  'cli-shared',
  'cli-sync',
  'cli-transfer',
  'cli-trash',
  'cli-two-way',
  'cli-upload',
  'cli-versions',
  'cli-workspace',
  'client',
  'clients',
  'database-tls',
  'download',
  'drive-gone',
  'edge',
  'event-route',
  'file-info',
  'frozen-disk',
  'galera',
  'graph-guide',
  'graph-page',
  'graph-uploads',
  'graphql',
  'hostile-files',
  'idle-memory',
  'isolation-graph',
  'memory',
  'metrics',
  'nginx',
  'openapi',
  'openid',
  'openid-outage',
  'openid-sign-out',
  'pack',
  'pages',
  'part-stream',
  'private-ca',
  'private-ca-service',
  'rate-limit',
  'secrets',
  'security/audit-log',
  'security/bodies',
  'security/creation-rates',
  'security/disk-faults',
  'security/file-request-drill',
  'security/graphql-documents',
  'security/graphql-over-http',
  'security/guessing',
  'security/half-open',
  'security/opened-links',
  'security/password-hashing',
  'security/pipelining',
  'security/proxy-downloads',
  'security/rolling-restart',
  'security/signed-parts',
  'security/static-answers',
  'security/unverified-people',
  'sign-in-presets',
  'signed-blobs',
  'start-stop',
  'statements',
  'subscription-instances',
  'traces',
  'tree-model',
  'tus-bytes',
  'tus-deferred',
  'two-way-drill',
  'upload-integrity',
  'upload-session',
  'user',
  'walk',
  'young-objects',
  'zip-programs',
]

/**
 * What `.ci/run` runs on MariaDB, by what MariaDB decides of it; `npm run test:all` runs there all
 * that is not of any engine. What is in none of these groups runs on SQLite in `.ci/run`: its
 * operations are in `authorization` here, which no operation may miss.
 */
const onMariadb = {
  'the statements of every operation': ['authorization'],
  'who waits for whom, and which of two comes first: locks, transactions, unique keys, leases': [
    'dav-lock',
    'dead-parts',
    'event-feed',
    'event-log',
    'kill',
    'ledger',
    'maintenance',
    'plan-claims',
    'races',
    'search-kill',
    'security/revocation',
    'security/rights-end',
    'security/share-races',
    'share-edit-races',
    'subscription',
    'upload-quota',
    'upload-races',
    'webhook',
    'workers',
    'workspace-races',
  ],
  'what is equal, what comes first, and what is found: collations, plans of queries, dialect': [
    'account-export',
    'audit-entries',
    'cursor',
    'dav',
    'doctor',
    'entry-copy',
    'entry-events',
    'folder',
    'folder-share-list',
    'graph-entries',
    'invite',
    'many-entries',
    'odd-names',
    'recent',
    'revisions',
    'search',
    'security/search-revocation',
    'share-entries',
    'share-event',
    'storage-report',
    'tag',
    'trash',
    'versions',
    'workspace-file',
  ],
  'a server that is slow, full or gone, and what is copied from it': [
    'backup-faults',
    'connection',
    'database',
    'migrations',
    'health',
    'security/database-faults',
  ],
}

/**
 * Of these, `.ci/run` runs on MariaDB the tests in which several come at once: by their names, as
 * shared-modules.cjs has it.
 */
const atOnceOnMariadb = [
  'account',
  'api-key',
  'audit',
  'direct-share',
  'graph-files',
  'note',
  'openid-groups',
  'plans',
  'program-login',
  'security/mail-abuse',
  'security/operators',
  'security/plan-bounds',
  'security/sign-in',
  'share',
  'share-save',
  'workspace',
  'workspace-share',
]

/**
 * What the store decides: once more with each other store in the place of the disk. No database has
 * a part in that.
 */
const onEachStore = [
  'download',
  'part-stream',
  'tus-bytes',
  'tus-deferred',
  'upload-integrity',
  'upload-session',
]

/** The same, at night. */
const onEachStoreAtNight = [
  'background-completion',
  'kill',
  'kill-previews',
  'kill-uploads',
  'move-blobs',
  'preview-instances',
  'upload-races',
]

/**
 * What `.ci/run` leaves to `.ci/run all`, which runs each night and before each release: there it
 * costs the most and proves what changes seldom break (docs/decisions/gate.md).
 */
const nightly = [
  'background-copy',
  'backup-command',
  'cli-completion',
  'cli-package',
  'cli-upload',
  'event-drill',
  'frozen-disk',
  'fuzz',
  'galera',
  'hostile-files',
  'isolation-graph',
  'kill-copies',
  'kill-previews',
  'kill-uploads',
  'memory',
  'move-blobs',
  'nginx',
  'pack',
  'security/disk-faults',
  'security/file-request-drill',
  'security/graphql-documents',
  'security/guessing',
  'security/half-open',
  'security/password-hashing',
  'security/rolling-restart',
  'start',
  'two-way-drill',
  'workers-redis',
  'young-objects',
]
export const nightlyInBrowser = [
  'console-arrived',
  'console-engines',
  'console-offline',
  'console-rtl',
  'looks',
]

/** On MariaDB these prove more, so `.ci/run` does not run them on SQLite as well. */
const notTwice = ['authorization', 'backup-faults', 'search-kill']

/**
 * Those that take the longest, by their processor time, and then those that wait a quarter of a
 * minute for something: they begin first, so that no worker is left alone with one in the end.
 */
export const longest = [
  'event-drill',
  'authorization',
  'kill-uploads',
  'backup-command',
  'kill',
  'cli-upload',
  'pack',
  'cli-transfer',
  'security/password-hashing',
  'background-copy',
  'fuzz',
  'cli-login',
  'kill-copies',
  'kill-previews',
  'workers',
  'security/half-open',
  'security/guessing',
  'bad-uploads',
  'start',
  'security/graphql-documents',
  'isolation',
  'hostile-files',
  'isolation-graph',
  'backup-faults',
  'memory',
  'azure/storage',
  'cli-completion',
  'cli-package',
  'security/disk-faults',
  'start-stop',
  'doctor',
  'races',
  'young-objects',
  'part-stream',
  'statements',
  'cli-sync',
  'bad-json',
  'azure/dead-store',
  'cli-file',
  'security/rolling-restart',
  'dead-parts',
  'cli-workspace',
  'cli-trash',
  'cli-two-way',
  'admin',
  'audit',
  'security/file-request-drill',
  'mail',
  'unit/cli-wire',
  'unit/cli-hostile',
  'rate-limit',
  'backup',
  'backup-drill',
  'unit/guessing',
  'unit/disk-safety',
  'upload-quota',
  'security/proxy-downloads',
  'webhook',
  'subscription',
  'subscription-instances',
  'security/bodies',
  'background-completion',
  'zip',
  'security/static-answers',
  'browser/console-offline',
  'browser/console-uploads',
  'browser/console-arrived',
  'browser/console-sharing',
  'browser/request-page',
  'browser/console-engines',
  'browser/console-rtl',
  'browser/console-shared-editing',
  'browser/looks',
  'browser/console-webhooks',
  'browser/console-shell',
  'browser/console-history',
  'browser/console-files',
  'browser/console-trash',
  'browser/console-admin',
  'browser/console-workspaces',
  'browser/pages',
]

const fileOf = name => `<rootDir>/test/${name}.test.ts`

const mariadb = Object.values(onMariadb).flat()
for (const name of [
  ...drills,
  ...anyEngine,
  ...mariadb,
  ...atOnceOnMariadb,
  ...onEachStore,
  ...onEachStoreAtNight,
  ...nightly,
  ...nightlyInBrowser.map(name => `browser/${name}`),
  ...longest,
])
  if (!existsSync(fileURLToPath(new URL(`${name}.test.ts`, import.meta.url))))
    throw new Error(`test/suites.mjs names ${name}, which is not there.`)
for (const name of nightly)
  if ([...mariadb, ...atOnceOnMariadb, ...onEachStore].includes(name) || !drills.includes(name))
    throw new Error(
      `test/suites.mjs has ${name} at night, and has to have it among the drills and in no list of .ci/run.`,
    )

const every = ['<rootDir>/test/*.test.ts', '<rootDir>/test/security/*.test.ts']
const unit = { name: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'], without: [] }
const [unitDrills, appDrills] = [true, false].map(ofUnit =>
  drills.filter(name => name.startsWith('unit/') === ofUnit).map(fileOf),
)
const sqlite = { name: 'sqlite', engine: 'sqlite', testMatch: every, without: [] }
const mysql = { name: 'mysql', engine: 'mysql', testMatch: every, without: anyEngine.map(fileOf) }
/** The same on the MySQL LTS at MYSQL_LTS_URL. */
const mysqlLts = { ...mysql, name: 'mysql-lts', isLts: true }
const mysqlOfGate = { ...mysql, testMatch: mariadb.map(fileOf) }
const mysqlAtOnce = {
  ...mysql,
  name: 'mysql-at-once',
  testMatch: atOnceOnMariadb.map(fileOf),
  onlyAtOnce: true,
}

/** A project for each store: its own tests, and some of the others. */
const stores = (...names) =>
  ['azure', 's3'].map(store => ({
    name: store,
    engine: 'sqlite',
    store,
    testMatch: [`<rootDir>/test/${store}/*.test.ts`, ...names.map(fileOf)],
    without: [],
  }))

/** `quick` and `rest` are for `.ci/run`: together they are `all`, but for what is above. */
export const suites = {
  quick: [
    { ...unit, without: unitDrills },
    { ...sqlite, without: appDrills },
  ],
  rest: [
    { ...unit, testMatch: unitDrills },
    { ...sqlite, testMatch: appDrills, without: [...nightly, ...notTwice].map(fileOf) },
    mysqlOfGate,
    mysqlAtOnce,
    ...stores(...onEachStore),
  ],
  all: [unit, sqlite, mysql, mysqlLts, ...stores(...onEachStore, ...onEachStoreAtNight)],
}
