import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Long ones: kills, attacks, thousands of requests, service after service. `npm test` leaves them to `npm run test:all`. */
const drills = [
  'backup',
  'bad-connections',
  'bad-uploads',
  'cli-completion',
  'cli-transfer',
  'cli-upload',
  'dead-parts',
  'doctor',
  'event-drill',
  'fuzz',
  'kill',
  'kill-uploads',
  'memory',
  'pack',
  'security/database-faults',
  'security/disk-faults',
  'security/guessing',
  'security/half-open',
  'security/password-hashing',
  'security/rolling-restart',
  'start',
  'start-stop',
  'workspace-races',
]

/** What no database has a part in, beyond what others prove on each: requests as such, bytes, pages, programs. These run on SQLite. */
const anyEngine = [
  'bad-connections',
  'bad-documents',
  'bad-forms',
  'bad-graphql-forms',
  'bad-graphql-requests',
  'bad-json',
  'bad-queries',
  'cli',
  'cli-completion',
  'cli-file',
  'cli-share',
  'cli-transfer',
  'cli-trash',
  'cli-upload',
  'cli-workspace',
  'client',
  'clients',
  'edge',
  'graph-guide',
  'graph-page',
  'idle-memory',
  'memory',
  'openapi',
  'pack',
  'pages',
  'part-stream',
  'rate-limit',
  'security/bodies',
  'security/disk-faults',
  'security/graphql-documents',
  'security/graphql-over-http',
  'security/guessing',
  'security/half-open',
  'security/password-hashing',
  'security/pipelining',
  'security/static-answers',
  'signed-blobs',
  'start-stop',
  'subscription-instances',
  'upload-integrity',
  'walk',
]

/** What the store decides: once more with Azure Blob Storage in the place of the disk. No database has a part in that. */
const onBothStores = ['download', 'part-stream', 'upload-integrity', 'upload-races', 'upload-session']

/** Those that take the longest, in this order: they begin first, so that no worker is left alone with one in the end. */
export const longest = [
  'security/guessing',
  'security/half-open',
  'cli-file',
  'kill-uploads',
  'fuzz',
  'dead-parts',
  'kill',
  'cli-upload',
  'cli-transfer',
  'cli-workspace',
  'authorization',
  'unit/cli-wire',
  'cli',
  'cli-completion',
  'security/rolling-restart',
  'security/password-hashing',
  'isolation',
  'bad-uploads',
  'upload-quota',
  'unit/guessing',
  'mail',
  'rate-limit',
  'security/proxy-downloads',
  'admin',
  'unit/cli-hostile',
  'unit/disk-safety',
]

const fileOf = name => `<rootDir>/test/${name}.test.ts`

for (const name of [...drills, ...anyEngine, ...onBothStores, ...longest])
  if (!existsSync(fileURLToPath(new URL(`${name}.test.ts`, import.meta.url))))
    throw new Error(`test/suites.mjs names ${name}, which is not there.`)

const every = ['<rootDir>/test/*.test.ts', '<rootDir>/test/security/*.test.ts']
const unit = { name: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'], without: [] }
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
  quick: [unit, { name: 'sqlite', engine: 'sqlite', testMatch: every, without: drills.map(fileOf) }],
  rest: [{ name: 'sqlite', engine: 'sqlite', testMatch: drills.map(fileOf), without: [] }, mysql, azure],
  all: [unit, { name: 'sqlite', engine: 'sqlite', testMatch: every, without: [] }, mysql, azure],
}
