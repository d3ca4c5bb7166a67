import { globSync, readFileSync } from 'node:fs'

/**
 * The folder of a test file decides where the file runs, and no list names a file:
 *
 * | folder        | `npm test`       | `.ci/run` adds                   | `.ci/run all` adds   |
 * |---------------|------------------|----------------------------------|----------------------|
 * | `unit/`       | without a server |                                  |                      |
 * | `interfaces/` | SQLite           |                                  |                      |
 * | `hostile/`    | SQLite           |                                  |                      |
 * | `api/`        | SQLite           | tests of races on MariaDB        | every engine         |
 * | `engines/`    | SQLite           | MariaDB                          | every engine         |
 * | `mariadb/`    |                  | MariaDB                          | every engine         |
 * | `stores/`     | SQLite, disk     | every store                      | every store          |
 *
 * `drills/` in such a folder begins with `.ci/run` (of `stores/` only on the disk), and `nightly/`
 * with `.ci/run all`. `stores/azure/` and `stores/s3/` run on one store. `browser/` has a
 * configuration of its own, where `nightly/` means the same. The database has no part in
 * `interfaces/` and `hostile/`, so they run on SQLite alone.
 */
const onSqlite = ['interfaces', 'hostile', 'api', 'engines', 'stores']
const onEngines = ['api', 'engines', 'mariadb']

const rootOfTests = new URL('../', import.meta.url)
const files = (...folders) => folders.map(folder => `<rootDir>/test/${folder}/*.test.ts`)
const within = (folders, ...often) =>
  files(...folders.flatMap(folder => often.map(part => (part ? `${folder}/${part}` : folder))))
const whole = folders => within(folders, '', 'drills', 'nightly')

/** The titles of race tests, whose outcome depends on the database. */
const RACES = /\b(at once|at the same time|concurrent(ly)?|rac(e|es|ing))\b/i

/** The files in `folders` that contain a test with such a title. */
function withRaces(...folders) {
  const paths = folders.flatMap(folder => globSync(`${folder}/*.test.ts`, { cwd: rootOfTests }))
  return paths
    .filter(path => {
      const text = readFileSync(new URL(path, rootOfTests), 'utf8')
      const titles = text.matchAll(/(?:\b(?:it|test)|[\])])\(\s*(['"`])(.*?)\1,/g)
      return [...titles].some(([, , title]) => RACES.test(title))
    })
    .map(path => `<rootDir>/test/${path}`)
}

const unit = testMatch => ({ name: 'unit', testMatch })
const sqlite = testMatch => ({ name: 'sqlite', engine: 'sqlite', testMatch })
const mysql = testMatch => ({ name: 'mysql', engine: 'mysql', testMatch })
/** The MySQL LTS at MYSQL_LTS_URL. */
const mysqlLts = testMatch => ({ ...mysql(testMatch), name: 'mysql-lts', isLts: true })
const mysqlRaces = {
  ...mysql(withRaces('api', 'api/drills')),
  name: 'mysql-races',
  onlyNamed: RACES.source,
}

/** A project for each store besides the disk. */
const stores = (...often) =>
  ['azure', 's3'].map(store => ({
    name: store,
    engine: 'sqlite',
    store,
    testMatch: [...within(['stores'], ...often), ...files(`stores/${store}`)],
  }))

const everyEngine = [...whole(onEngines), ...within(['stores'], 'drills', 'nightly')]

/** `quick` is `npm test`. `.ci/run` runs `quick` and `rest`; `.ci/run all` runs `all`. */
export const suites = {
  quick: [unit(files('unit')), sqlite(files(...onSqlite))],
  rest: [
    unit(files('unit/drills')),
    sqlite(within(onSqlite, 'drills')),
    mysql([...within(['engines'], '', 'drills'), ...files('mariadb')]),
    mysqlRaces,
    ...stores(''),
  ],
  all: [
    unit(whole(['unit'])),
    sqlite(whole([...onSqlite, 'mariadb'])),
    mysql(everyEngine),
    mysqlLts(everyEngine),
    ...stores('', 'drills', 'nightly'),
  ],
}

/** The tests in the browser: `rest` leaves out those that run at night. */
export const inBrowser = suite =>
  suite === 'rest' ? files('browser') : within(['browser'], '', 'nightly')
