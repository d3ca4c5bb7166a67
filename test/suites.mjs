import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Long ones: kills, thousands of requests, service after service. `npm test` leaves them to `npm run test:all`. */
const drills = [
  'backup',
  'bad-connections',
  'bad-uploads',
  'cli-transfer',
  'cli-upload',
  'dead-parts',
  'doctor',
  'fuzz',
  'kill',
  'kill-uploads',
  'memory',
  'pack',
  'security/database-faults',
  'security/disk-faults',
  'security/half-open',
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
  'cli-upload',
  'cli-workspace',
  'client',
  'edge',
  'graph-page',
  'memory',
  'openapi',
  'pack',
  'pages',
  'part-stream',
  'security/bodies',
  'security/disk-faults',
  'security/graphql-documents',
  'security/graphql-over-http',
  'security/guessing',
  'security/half-open',
  'security/password-hashing',
  'security/static-answers',
  'start-stop',
  'walk',
]

/** What the store decides: once more with Azure Blob Storage in the place of the disk. No database has a part in that. */
const onBothStores = ['download', 'part-stream', 'upload-integrity', 'upload-races', 'upload-session']

const fileOf = name => `<rootDir>/test/${name}.test.ts`

for (const name of [...drills, ...anyEngine, ...onBothStores])
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
