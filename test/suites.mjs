import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Long ones: kills, attacks, thousands of requests, hundreds of processes, service after service, each operation as everybody.
 * `npm test` leaves them to `npm run test:all`.
 */
const drills = [
  'admin',
  'authorization',
  'backup',
  'bad-connections',
  'bad-uploads',
  'cli-completion',
  'cli-events',
  'cli-file',
  'cli-request',
  'cli-share',
  'cli-sync',
  'cli-transfer',
  'cli-trash',
  'cli-upload',
  'cli-versions',
  'cli-workspace',
  'dead-parts',
  'doctor',
  'event-drill',
  'fuzz',
  'isolation-graph',
  'kill',
  'kill-copies',
  'kill-uploads',
  'memory',
  'pack',
  'races',
  'rate-limit',
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
  'unit/cli-hostile',
  'unit/cli-wire',
  'workers',
  'workspace-races',
  'young-objects',
  'zip-programs',
]

/**
 * What no database has a part in, beyond what others prove on each: requests as such, bytes, pages, programs, and who may what (the
 * rules are of no engine; that queries keep to them is in isolation.test.ts, on each). These run on SQLite.
 */
const anyEngine = [
  'auth',
  'authorization',
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
  'cli-request',
  'cli-share',
  'cli-sync',
  'cli-transfer',
  'cli-trash',
  'cli-upload',
  'cli-versions',
  'cli-workspace',
  'client',
  'clients',
  'download',
  'drive-gone',
  'edge',
  'event-route',
  'file-info',
  'graph-guide',
  'graph-page',
  'graph-uploads',
  'graphql',
  'idle-memory',
  'isolation-graph',
  'memory',
  'metrics',
  'openapi',
  'openid',
  'openid-sign-out',
  'pack',
  'pages',
  'part-stream',
  'rate-limit',
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
  'upload-integrity',
  'upload-session',
  'user',
  'walk',
  'young-objects',
]

/** What the store decides: once more with Azure Blob Storage in the place of the disk. No database has a part in that. */
const onBothStores = [
  'background-completion',
  'download',
  'part-stream',
  'upload-integrity',
  'upload-races',
  'upload-session',
]

/**
 * Those that take the longest, by their processor time, and then those that wait a quarter of a minute for something: they begin first, so
 * that no worker is left alone with one in the end.
 */
export const longest = [
  'kill-uploads',
  'event-drill',
  'authorization',
  'kill',
  'kill-copies',
  'security/half-open',
  'cli-upload',
  'cli-transfer',
  'start',
  'security/guessing',
  'cli-sync',
  'cli-file',
  'fuzz',
  'security/password-hashing',
  'bad-uploads',
  'security/rolling-restart',
  'security/graphql-documents',
  'memory',
  'pack',
  'dead-parts',
  'cli-workspace',
  'statements',
  'cli-trash',
  'admin',
  'start-stop',
  'isolation-graph',
  'cli-completion',
  'isolation',
  'security/disk-faults',
  'security/file-request-drill',
  'mail',
  'unit/cli-wire',
  'unit/cli-hostile',
  'rate-limit',
  'backup',
  'races',
  'unit/guessing',
  'unit/disk-safety',
  'upload-quota',
  'security/proxy-downloads',
  'background-copy',
  'webhook',
  'subscription',
  'subscription-instances',
  'security/bodies',
  'background-completion',
  'zip',
  'security/static-answers',
  'browser/console-offline',
  'browser/console-engines',
  'browser/console-sharing',
  'browser/console-uploads',
  'browser/console-rtl',
  'browser/console-arrived',
  'browser/console-trash',
  'browser/console-workspaces',
  'browser/pages',
  'browser/looks',
]

const fileOf = name => `<rootDir>/test/${name}.test.ts`

for (const name of [...drills, ...anyEngine, ...onBothStores, ...longest])
  if (!existsSync(fileURLToPath(new URL(`${name}.test.ts`, import.meta.url))))
    throw new Error(`test/suites.mjs names ${name}, which is not there.`)

const every = ['<rootDir>/test/*.test.ts', '<rootDir>/test/security/*.test.ts']
const unit = { name: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'], without: [] }
const [unitDrills, appDrills] = [true, false].map(ofUnit =>
  drills.filter(name => name.startsWith('unit/') === ofUnit).map(fileOf),
)
const sqlite = { name: 'sqlite', engine: 'sqlite', testMatch: every, without: [] }
const mysql = { name: 'mysql', engine: 'mysql', testMatch: every, without: anyEngine.map(fileOf) }

const azure = {
  name: 'azure',
  engine: 'sqlite',
  store: 'azure',
  testMatch: ['<rootDir>/test/azure/*.test.ts', ...onBothStores.map(fileOf)],
  without: [],
}

/** `quick` and `rest` are `all`, without anything twice. */
export const suites = {
  quick: [
    { ...unit, without: unitDrills },
    { ...sqlite, without: appDrills },
  ],
  rest: [{ ...unit, testMatch: unitDrills }, { ...sqlite, testMatch: appDrills }, mysql, azure],
  all: [unit, sqlite, mysql, azure],
}
