import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { readConfig } from '../../src/config/config.ts'
import { describeSettings } from '../../src/config/help.ts'
import { settings } from '../../src/config/settings.ts'
import { CLEANUP_LIMIT } from '../../src/http/server.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const dockerfile = read('docker/Dockerfile')
const compose = read('docker/compose.yml')

/** Settings that an operator might put into satchel.env. */
const given: Record<string, string> = {
  ...variablesOf(read('docker/satchel.env.example')),
  SECRET_KEY: 'k'.repeat(64),
  MYSQL_PASSWORD: 'secret',
  OAUTH_SSO_CLIENT_ID: 'satchel',
  OAUTH_SSO_CLIENT_SECRET: 'secret',
  OPERATORS: 'ann@example.com',
}

function variablesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^([A-Z]\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}

/** Docker Compose replaces `${NAME}` and `${NAME:-default}`, and defaults may be nested. */
function interpolate(text: string, variables: Record<string, string>): string {
  const innermost = /\$\{(\w+)(?::-([^${}]*))?\}/
  for (let result = text; ; ) {
    const next = result.replace(
      innermost,
      (_, name: string, otherwise = '') => variables[name] || otherwise,
    )
    if (next === result) return result
    result = next
  }
}

const [service = ''] = /^ {2}satchel:\n(?: {4}.*\n)+/m.exec(compose) ?? []

/**
 * The environment of an instance: the settings of the image, overridden by satchel.env, overridden
 * by the compose file.
 */
function environment(variables = given): Record<string, string> {
  const [image = ''] = /^ENV .*$/gm.exec(dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))) ?? []
  const ofImage = [...image.matchAll(/(\w+)=(\S+)/g)]
  const ofCompose = [...service.matchAll(/^ {6}([A-Z]\w+): (.*)$/gm)]
  const pairs = (found: RegExpExecArray[]) =>
    Object.fromEntries(
      found.map(([, name = '', value = '']) => [name, interpolate(value, variables)]),
    )
  return { ...pairs(ofImage), ...variables, ...pairs(ofCompose) }
}

describe('docker/compose.yml', () => {
  it('passes every setting to the instances', () => {
    expect(service).toContain('    env_file: satchel.env\n')
    const names = [...describeSettings().matchAll(/^ {2}(\S+)$/gm)].map(([, name = '']) =>
      name.replace('<NAME>', 'SSO'),
    )
    expect(names).toEqual(expect.arrayContaining([...Object.keys(settings), 'OAUTH_SSO_ISSUER']))
    const marked = Object.fromEntries(names.map(name => [name, `value of ${name}`]))
    expect(environment(marked)).toMatchObject(marked)
  })

  it('names only settings that exist', () => {
    const known = [...describeSettings().matchAll(/^ {2}(\S+)$/gm)].map(([, name]) => name)
    const named = Object.keys(environment())
      .filter(name => name !== 'MYSQL_PASSWORD')
      .map(name => name.replace(/^OAUTH_SSO_/, 'OAUTH_<NAME>_'))
    expect(named).toContain('DATABASE_URL')
    expect(known).toEqual(expect.arrayContaining(named))
  })

  it('is a production configuration without embedded parts', () => {
    expect(readConfig(environment())).toMatchObject({
      host: '0.0.0.0',
      production: true,
      database: { dialect: 'mysql' },
      redisUrl: 'redis://redis:6379',
      secretKey: given.SECRET_KEY,
      operators: ['ann@example.com'],
      providers: [
        {
          name: 'sso',
          issuer: 'https://sso.example.com',
          scopes: ['openid', 'email', 'profile'],
        },
      ],
      trustProxy: ['uniquelocal'],
    })
  })

  it('keeps files on the shared volume, unless an Azure account is configured', () => {
    const config = readConfig(environment())
    expect([config.azure, config.blobDir]).toEqual([null, '/data/blobs'])
    expect(compose).toMatch(/^ {4}volumes:\n {6}- satchel:\/data$/m)
    const connection = 'AccountName=files;AccountKey=a2V5'
    given.AZURE_STORAGE_CONNECTION_STRING = connection
    expect(readConfig(environment()).azure?.connectionString).toBe(connection)
    delete given.AZURE_STORAGE_CONNECTION_STRING
    expect(compose).not.toContain('image: mcr.microsoft.com')
  })

  it('keeps files in the configured bucket', () => {
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

  it('lets the proxy check the readiness of each instance', () => {
    const caddyfile = read('docker/Caddyfile')
    expect(caddyfile).toContain('health_uri /readyz\n')
    const [, replicas = ''] = /replicas: (\d+)/.exec(compose) ?? []
    const names = Array.from(
      { length: Number(replicas) },
      (_, n) => `satchel-satchel-${n + 1}:8080`,
    )
    expect(caddyfile).toContain(`reverse_proxy ${names.join(' ')} {`)
  })

  it('has a stop timeout longer than that of the service', () => {
    const [, seconds] = /stop_grace_period: (\d+)s/.exec(compose) ?? []
    const { drainSeconds, shutdownSeconds } = readConfig(environment())
    expect(Number(seconds)).toBeGreaterThan(drainSeconds + shutdownSeconds + CLEANUP_LIMIT / 1000)
  })
})

describe('docker/Dockerfile', () => {
  // The last stage is the image. The stage that builds the console is discarded.
  const copiedBy = (stage: string) =>
    [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
      sources.split(' '),
    )
  const [build = '', image = ''] = dockerfile.split('\nFROM ').slice(-2)
  const copied = copiedBy(image)

  it('copies exactly the files that .dockerignore includes', () => {
    const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path)
    expect([...new Set([...copiedBy(build), ...copied])].toSorted()).toEqual(allowed.toSorted())
  })

  it('copies the base configurations of the projects that it builds', () => {
    const extended = globSync('src/**/tsconfig.json').map(project => {
      const [, base = '.'] = /"extends": "([^"]+)"/.exec(read(project)) ?? []
      return join(project, '..', base).split('/')[0]
    })
    expect(extended).toContain('tsconfig.json')
    expect(copiedBy(build)).toEqual(expect.arrayContaining(extended))
  })

  it('contains the folders of the programs, and no tests', () => {
    const folders = copied.filter(path => !path.includes('.'))
    expect(folders.toSorted()).toEqual(['db', 'schema', 'src'])
  })

  it('runs the pinned major version of Node', () => {
    const { devDependencies, engines } = JSON.parse(read('package.json'))
    const [, major = ''] = /^FROM node:(\d+)-/m.exec(dockerfile) ?? []
    expect(devDependencies.node).toMatch(new RegExp(`^${major}\\.`))
    expect(engines.node).toBe(`>=${major}`)
  })

  it('runs every self-contained program like npm', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const [, command = ''] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? []
    const [, malloc = ''] =
      /^ENV (MALLOC_ARENA_MAX=\d+ MALLOC_MMAP_THRESHOLD_=\d+)$/m.exec(dockerfile) ?? []
    const cache = 'NODE_COMPILE_CACHE=node_modules/.cache/node'
    expect(scripts.start).toBe(`${malloc} ${cache} exec ${JSON.parse(command).join(' ')}`)
    for (const name of ['start', 'doctor', 'admin']) {
      expect(scripts[`pre${name}`]).toBeUndefined()
      expect(scripts[name]).toMatch(/(^|exec )node src\/\w+\.ts$/)
    }
  })
})
