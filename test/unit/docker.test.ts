import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { readConfig } from '../../src/config/config.ts'
import { describeSettings } from '../../src/config/help.ts'
import { CLEANUP_LIMIT } from '../../src/http/server.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const dockerfile = read('docker/Dockerfile')
const compose = read('docker/compose.yml')

/** The variables that compose.yml asks for, as an operator might set them. */
const given: Record<string, string> = {
  PUBLIC_URL: 'https://files.example.com',
  SECRET_KEY: 'k'.repeat(64),
  MYSQL_PASSWORD: 'secret',
  OAUTH_SSO_CLIENT_ID: 'satchel',
  OAUTH_SSO_CLIENT_SECRET: 'secret',
  OAUTH_SSO_AUTHORIZE_URL: 'https://sso.example.com/authorize',
  OAUTH_SSO_TOKEN_URL: 'https://sso.example.com/token',
  OAUTH_SSO_USERINFO_URL: 'https://sso.example.com/userinfo',
}

/**
 * What an instance finds in its environment: the image's settings, overlaid by those of the compose
 * file.
 */
function environment(): Record<string, string> {
  const [image = ''] = /^ENV .*$/gm.exec(dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))) ?? []
  const [service = ''] = /^ {2}satchel:\n(?: {4}.*\n)+/m.exec(compose) ?? []
  const settings = [
    ...image.matchAll(/(\w+)=(\S+)/g),
    ...service.matchAll(/^ {6}([A-Z]\w+): (.*)$/gm),
  ]
  return Object.fromEntries(
    settings.map(([, name = '', value = '']) => [
      name,
      value.replace(
        /\$\{(\w+):([?-])([^}]*)\}/g,
        (_, variable: string, operator: string, text: string) =>
          given[variable] ?? (operator === '-' ? text : ''),
      ),
    ]),
  )
}

describe('docker/compose.yml', () => {
  it('names settings that exist', () => {
    const known = [...describeSettings().matchAll(/^ {2}(\S+)$/gm)].map(([, name]) => name)
    const named = Object.keys(environment()).map(name =>
      name.replace(/^OAUTH_SSO_/, 'OAUTH_<NAME>_'),
    )
    expect(named).toContain('DATABASE_URL')
    expect(known).toEqual(expect.arrayContaining(named))
  })

  it('makes a configuration for production in which nothing is embedded', () => {
    expect(readConfig(environment())).toMatchObject({
      host: '0.0.0.0',
      production: true,
      database: { dialect: 'mysql' },
      redisUrl: 'redis://redis:6379',
      secretKey: given.SECRET_KEY,
      providers: [{ name: 'sso', scopes: ['openid', 'email', 'profile'] }],
      trustProxy: ['uniquelocal'],
    })
  })

  it('keeps the files on the volume that all instances share, unless an account of Azure is given', () => {
    const config = readConfig(environment())
    expect([config.azure, config.blobDir]).toEqual([null, '/data/blobs'])
    expect(compose).toMatch(/^ {4}volumes:\n {6}- satchel:\/data$/m)
    const connection = 'AccountName=files;AccountKey=a2V5'
    given.AZURE_STORAGE_CONNECTION_STRING = connection
    expect(readConfig(environment()).azure?.connectionString).toBe(connection)
    delete given.AZURE_STORAGE_CONNECTION_STRING
    expect(compose).not.toContain('image: mcr.microsoft.com')
  })

  it('keeps the files in a bucket that is given', () => {
    Object.assign(given, {
      S3_BUCKET: 'files',
      S3_REGION: 'eu-west-1',
      S3_ACCESS_KEY_ID: 'a',
      S3_SECRET_ACCESS_KEY: 'b',
    })
    expect(readConfig(environment()).s3).toMatchObject({ bucket: 'files', region: 'eu-west-1' })
    for (const name of Object.keys(given)) if (name.startsWith('S3_')) delete given[name]
    expect(readConfig(environment()).s3).toBeNull()
  })

  it('lets the proxy ask each instance whether it serves', () => {
    const caddyfile = read('docker/Caddyfile')
    expect(caddyfile).toContain('health_uri /readyz\n')
    const [, replicas = ''] = /replicas: (\d+)/.exec(compose) ?? []
    const names = Array.from(
      { length: Number(replicas) },
      (_, n) => `satchel-satchel-${n + 1}:8080`,
    )
    expect(caddyfile).toContain(`reverse_proxy ${names.join(' ')} {`)
  })

  it('gives a stop more time than the service takes for it', () => {
    const [, seconds] = /stop_grace_period: (\d+)s/.exec(compose) ?? []
    const { drainSeconds, shutdownSeconds } = readConfig(environment())
    expect(Number(seconds)).toBeGreaterThan(drainSeconds + shutdownSeconds + CLEANUP_LIMIT / 1000)
  })
})

describe('docker/Dockerfile', () => {
  // The last stage is the image; what builds the console stays behind.
  const copiedBy = (stage: string) =>
    [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
      sources.split(' '),
    )
  const [build = '', image = ''] = dockerfile.split('\nFROM ').slice(-2)
  const copied = copiedBy(image)

  it('copies exactly what .dockerignore lets through', () => {
    const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path)
    expect([...new Set([...copiedBy(build), ...copied])].toSorted()).toEqual(allowed.toSorted())
  })

  it('copies what the projects that it builds extend', () => {
    const extended = globSync('src/**/tsconfig.json').map(project => {
      const [, base = '.'] = /"extends": "([^"]+)"/.exec(read(project)) ?? []
      return join(project, '..', base).split('/')[0]
    })
    expect(extended).toContain('tsconfig.json')
    expect(copiedBy(build)).toEqual(expect.arrayContaining(extended))
  })

  it('holds the folders that the programs of the service run from, and no tests', () => {
    const folders = copied.filter(path => !path.includes('.'))
    expect(folders.toSorted()).toEqual(['db', 'schema', 'src'])
  })

  it('runs the major version of Node that is pinned', () => {
    const { devDependencies, engines } = JSON.parse(read('package.json'))
    const [, major = ''] = /^FROM node:(\d+)-/m.exec(dockerfile) ?? []
    expect(devDependencies.node).toMatch(new RegExp(`^${major}\\.`))
    expect(engines.node).toBe(`>=${major}`)
  })

  it('runs every program that needs no more than it holds as npm does', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const [, command = ''] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? []
    const [, malloc = ''] = /^ENV .*\b(MALLOC_ARENA_MAX=\d+)/m.exec(dockerfile) ?? []
    const cache = 'NODE_COMPILE_CACHE=node_modules/.cache/node'
    expect(scripts.start).toBe(`${malloc} ${cache} exec ${JSON.parse(command).join(' ')}`)
    for (const name of ['start', 'doctor', 'admin']) {
      expect(scripts[`pre${name}`]).toBeUndefined()
      expect(scripts[name]).toMatch(/(^|exec )node src\/\w+\.ts$/)
    }
  })
})
