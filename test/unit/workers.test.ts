import { expect, it } from '@jest/globals'
import { readConfig } from '../../src/config/config.ts'
import { workersOf } from '../../src/workers/count.ts'

const PROVIDER = {
  OAUTH_TEST_CLIENT_ID: 'satchel',
  OAUTH_TEST_CLIENT_SECRET: 'secret',
  OAUTH_TEST_AUTHORIZE_URL: 'https://sso.example.com/authorize',
  OAUTH_TEST_TOKEN_URL: 'https://sso.example.com/token',
  OAUTH_TEST_USERINFO_URL: 'https://sso.example.com/userinfo',
}
const MARIADB = { ...PROVIDER, DATABASE_URL: 'mariadb://satchel@db.example.com/satchel' }
const LOCAL = { ...PROVIDER, DATABASE_URL: 'mysql://satchel@127.0.0.1:3306/satchel' }
const SOCKET = {
  ...PROVIDER,
  DATABASE_URL: 'mysql://satchel@db/satchel?socketPath=/run/mysqld/mysqld.sock',
}

it.each([
  ['by default', MARIADB, 1, undefined],
  ['with auto', { ...MARIADB, WORKERS: 'auto', DATABASE_POOL: '100' }, 8, undefined],
  [
    'with auto and a database on the same machine',
    { ...LOCAL, WORKERS: 'auto', DATABASE_POOL: '100' },
    7,
    undefined,
  ],
  [
    'with auto and a database at a Unix socket',
    { ...SOCKET, WORKERS: 'auto', DATABASE_POOL: '100' },
    7,
    undefined,
  ],
  ['with a number and a database on the same machine', { ...LOCAL, WORKERS: '2' }, 2, undefined],
  ['with a number', { ...MARIADB, WORKERS: '2' }, 2, undefined],
  ['with few connections', { ...MARIADB, WORKERS: 'auto' }, 2, /DATABASE_POOL, which is 10/],
  ['with SQLite', { ...PROVIDER, WORKERS: '2' }, 1, /SQLite/],
  ['with SQLite and auto', { ...PROVIDER, WORKERS: 'auto' }, 1, undefined],
  [
    'with the embedded sign-in',
    { DATABASE_URL: MARIADB.DATABASE_URL, WORKERS: '2' },
    1,
    /embedded sign-in/,
  ],
] as const)('WORKERS %s', (_when, settings, count, why) => {
  const { workers, because } = workersOf(readConfig(settings), 8)
  expect(workers).toBe(count)
  if (why) expect(because).toMatch(why)
  else expect(because).toBeUndefined()
})
