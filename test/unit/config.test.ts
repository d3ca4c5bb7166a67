import { isAbsolute, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { ConfigError, isLoopback, readConfig } from '../../src/config/config.ts'
import { describeSettings } from '../../src/config/help.ts'

type Env = Record<string, string>

/** The errors in an environment, one per line, or nothing if it is valid. */
function problemsOf(env: Env): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

const secret = 's'.repeat(32)
const provider = (name: string, more: Env = {}): Env => ({
  [`OAUTH_${name}_CLIENT_ID`]: 'an-id',
  [`OAUTH_${name}_CLIENT_SECRET`]: 'a-secret',
  [`OAUTH_${name}_AUTHORIZE_URL`]: 'https://id.example.com/authorize',
  [`OAUTH_${name}_TOKEN_URL`]: 'https://id.example.com/token',
  [`OAUTH_${name}_USERINFO_URL`]: 'https://id.example.com/me',
  ...more,
})

describe('without any setting', () => {
  const config = readConfig({})

  it('listens on loopback', () => {
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      publicUrl: 'http://localhost:8080',
    })
  })

  it('uses the embedded parts', () => {
    expect(config).toMatchObject({
      dataDir: resolve('data'),
      database: { dialect: 'sqlite', file: resolve('data', 'satchel.sqlite') },
      azure: null,
      s3: null,
      secretKey: '',
      smtpUrl: '',
      redisUrl: '',
      providers: [],
    })
  })

  it('trusts no proxy and no origin', () => {
    expect(config).toMatchObject({ corsOrigins: [], trustProxy: [], production: false })
  })

  it('has the documented limits', () => {
    expect(config).toMatchObject({
      databasePool: 10,
      downloads: 'redirect',
      signedUrlSeconds: 60,
      sessionSeconds: 24 * 3600,
      leaseSeconds: 60,
      sweepSeconds: 15,
      shutdownSeconds: 30,
      retentionDays: 30,
      eventDays: 90,
      graphiql: true,
      logLevel: 'info',
    })
  })

  it('treats an empty setting as unset', () => {
    expect(
      readConfig({ PORT: '', SECRET_KEY: '', PUBLIC_URL: '', OAUTH_GITHUB_CLIENT_ID: '' }),
    ).toEqual(config)
  })
})

describe('addresses', () => {
  it('derive the public address from the port, as soon as the port is known', () => {
    expect(readConfig({ PORT: '9000' }).publicUrl).toBe('http://localhost:9000')
    expect(readConfig({ PORT: '0' }).publicUrl).toBe('')
    expect(readConfig({ PORT: '0', PUBLIC_URL: 'http://localhost:9000/' }).publicUrl).toBe(
      'http://localhost:9000',
    )
  })

  it('keep only the origin, without a slash at the end', () => {
    const env = {
      PUBLIC_URL: 'https://Files.Example.com:443/',
      BLOB_PUBLIC_URL: 'https://blobs.example.com/store//',
    }
    const config = readConfig({ ...env, ...provider('A') })
    expect(config.publicUrl).toBe('https://files.example.com')
    expect(config.blobPublicUrl).toBe('https://blobs.example.com/store')
  })

  it('are split at commas', () => {
    const config = readConfig({
      CORS_ORIGINS: 'https://a.example.com, http://localhost:3000/ ,',
      TRUST_PROXY: 'loopback, 10.0.0.0/8',
    })
    expect(config.corsOrigins).toEqual(['https://a.example.com', 'http://localhost:3000'])
    expect(config.trustProxy).toEqual(['loopback', '10.0.0.0/8'])
  })

  it.each([
    'http://localhost:8080',
    'http://satchel.localhost',
    'https://127.0.0.1',
    'http://127.8.9.1:1',
    'http://[::1]',
  ])('recognise %s as loopback', url => expect(isLoopback(url)).toBe(true))

  it.each([
    'https://files.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost@example.com',
    'http://0.0.0.0:8080',
    'http://192.168.1.2',
    'http://[::]',
  ])('recognise %s as remote', url => expect(isLoopback(url)).toBe(false))
})

describe('DATABASE_URL', () => {
  it('names a MySQL or MariaDB server', () => {
    const url = 'mysql://satchel:pass@db:3306/satchel'
    expect(readConfig({ DATABASE_URL: url }).database).toEqual({ dialect: 'mysql', url })
    expect(readConfig({ DATABASE_URL: url.replace('mysql', 'mariadb') }).database).toEqual({
      dialect: 'mysql',
      url,
    })
  })

  it('lists the nodes of a cluster', () => {
    const { database } = readConfig({
      DATABASE_URL: 'mariadb://satchel:p,a%40s@db1,db2:3307, [::1]:3308/satchel',
    })
    expect(database).toEqual({
      dialect: 'mysql',
      url: 'mysql://satchel:p,a%40s@db1/satchel',
      others: [
        'mysql://satchel:p,a%40s@db2:3307/satchel',
        'mysql://satchel:p,a%40s@[::1]:3308/satchel',
      ],
    })
    expect(() => readConfig({ DATABASE_URL: 'mysql://satchel@db1,db 2/satchel' })).toThrow(
      'DATABASE_URL',
    )
    expect(() => readConfig({ DATABASE_URL: 'mysql://satchel@db1,/satchel' })).toThrow(
      'DATABASE_URL',
    )
  })

  it('names an SQLite file', () => {
    const file = (url: string) => readConfig({ DATABASE_URL: url }).database
    expect(file('sqlite:files.db')).toEqual({ dialect: 'sqlite', file: resolve('files.db') })
    expect(file('sqlite:/var/lib/files.db')).toEqual({
      dialect: 'sqlite',
      file: '/var/lib/files.db',
    })
    expect(file('sqlite:///var/lib/files.db')).toEqual({
      dialect: 'sqlite',
      file: '/var/lib/files.db',
    })
  })

  it('defaults to a file in DATA_DIR, which may be relative', () => {
    const { dataDir, database } = readConfig({ DATA_DIR: 'elsewhere' })
    expect(isAbsolute(dataDir)).toBe(true)
    expect(database).toEqual({ dialect: 'sqlite', file: resolve('elsewhere', 'satchel.sqlite') })
  })
})

describe('an invalid setting', () => {
  it.each([
    ['PORT', 'abc'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PUBLIC_URL', 'files.example.com'],
    ['PUBLIC_URL', 'ftp://files.example.com'],
    ['PUBLIC_URL', 'https://example.com/files'],
    ['CORS_ORIGINS', 'https://example.com/app'],
    ['DATABASE_URL', 'postgres://db/satchel'],
    ['DATABASE_URL', 'mysql://db'],
    ['DATABASE_POOL', '0'],
    ['AZURE_STORAGE_CONNECTION_STRING', 'https://account.blob.core.windows.net/?sv=a-sas'],
    ['AZURE_STORAGE_CONTAINER', 'Satchel'],
    ['AZURE_STORAGE_CONTAINER', 'sat--chel'],
    ['BLOB_PUBLIC_URL', 'blobs'],
    ['DOWNLOADS', 'direct'],
    ['SIGNED_URL_SECONDS', '0'],
    ['SESSION_HOURS', '-1'],
    ['SECRET_KEY', 's'.repeat(31)],
    ['SMTP_URL', 'http://mail.example.com'],
    ['REDIS_URL', 'localhost:6379'],
    ['WORKERS', '0'],
    ['WORKERS', 'many'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://a.example.com, b'],
    ['GRAPHIQL', 'yes'],
    ['LOG_LEVEL', 'loud'],
    ['SWEEP_SECONDS', '1 minute'],
    ['RETENTION_DAYS', '0'],
    ['EVENT_DAYS', '0'],
    ['NODE_ENV', 'Production'],
    ['SIGN_UP', 'everybody'],
    ['SIGN_UP', 'domains:'],
    ['SIGN_UP', 'domains:example.com,'],
    ['SIGN_UP', 'domains:@example.com'],
    ['SIGN_UP', 'claim:groups'],
    ['SIGN_UP', 'claim:groups='],
    ['SIGN_UP', 'open:example.com'],
    ['LINK_BY_EMAIL', 'yes'],
    ['NODE_ENV', 'prod'],
    ['NODE_ENV', 'staging'],
  ])('is named: %s=%s', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name}: .+`)),
    ])
  })

  it('lists the words for NODE_ENV, so that a typo does not disable production checks', () => {
    expect(problemsOf({ NODE_ENV: 'prod' })).toEqual([
      'NODE_ENV: must be development, production or test',
    ])
    for (const NODE_ENV of ['', 'development', 'test']) expect(problemsOf({ NODE_ENV })).toEqual([])
  })

  it('stops the start with one message that lists all errors', () => {
    const env = {
      PORT: 'abc',
      DATABASE_URL: 'postgres://db/satchel',
      AZURE_STORAGE_CONNECTION_STRING: 'nonsense',
      SECRET_KEY: 'short',
      CORS_ORIGINS: '*',
      GRAPHIQL: 'yes',
      OAUTH_GITHUB_CLIENT_ID: 'an-id',
      OAUTH_GITHUB_CLIENT_SECRET: 'a-secret',
      OAUTH_GITHUB_AUTHORIZE_URL: 'nowhere',
    }
    const named = problemsOf(env).map(problem => problem.slice(0, problem.indexOf(':')))
    expect(named.sort()).toEqual([
      'AZURE_STORAGE_CONNECTION_STRING',
      'CORS_ORIGINS',
      'DATABASE_URL',
      'GRAPHIQL',
      'OAUTH_GITHUB_AUTHORIZE_URL',
      'OAUTH_GITHUB_TOKEN_URL',
      'OAUTH_GITHUB_USERINFO_URL',
      'PORT',
      'SECRET_KEY',
    ])
    const lines = problemsOf(env).map(problem => `  - ${problem}\n`)
    expect(() => readConfig(env)).toThrow(lines.join(''))
    expect(() => readConfig(env)).toThrow(/^Satchel cannot start.+--help/s)
  })

  it('is reported without its value, which may be a secret', () => {
    expect(
      problemsOf({ SECRET_KEY: 'hunter2', DATABASE_URL: 'hunter2', SMTP_URL: 'hunter2' }).join(),
    ).not.toContain('hunter2')
  })
})

describe('the Azure account', () => {
  it.each([
    'UseDevelopmentStorage=true',
    'DefaultEndpointsProtocol=https;AccountName=files;AccountKey=a2V5;EndpointSuffix=core.windows.net',
  ])('is read from %s', connection => {
    const { azure } = readConfig({ AZURE_STORAGE_CONNECTION_STRING: connection })
    expect(azure).toMatchObject({ connectionString: connection, container: 'satchel' })
  })

  it('is used without a key when its URL is set', () => {
    const url = 'https://files.blob.core.windows.net'
    const accountOf = (env: Env) =>
      readConfig({ AZURE_STORAGE_ACCOUNT_URL: `${url}/`, ...env }).azure
    expect(accountOf({})).toEqual({
      accountUrl: url,
      connectionString: '',
      container: 'satchel',
      ownAuthority: false,
    })
    for (const [host, ownAuthority] of [
      ['https://login.microsoftonline.com/', false],
      ['https://login.microsoftonline.us', false],
      ['https://login.partner.microsoftonline.cn', false],
      ['https://login.example.com', true],
      ['https://microsoftonline.com.example.com', true],
    ] as const)
      expect(accountOf({ AZURE_AUTHORITY_HOST: host })).toMatchObject({ ownAuthority })
  })

  it.each<[Env, string]>([
    [{ AZURE_STORAGE_ACCOUNT_URL: 'http://files.blob.core.windows.net' }, 'https'],
    [{ AZURE_STORAGE_ACCOUNT_URL: 'https://files.blob.core.windows.net/?sv=1' }, 'no query'],
    [
      {
        AZURE_STORAGE_ACCOUNT_URL: 'https://files.blob.core.windows.net',
        AZURE_STORAGE_CONNECTION_STRING: 'AccountName=files;AccountKey=a2V5',
      },
      'cannot be set with AZURE_STORAGE_CONNECTION_STRING',
    ],
    [
      {
        AZURE_STORAGE_ACCOUNT_URL: 'https://files.blob.core.windows.net',
        S3_BUCKET: 'files',
        S3_REGION: 'eu-west-1',
      },
      'because there is one store',
    ],
  ])('is refused with %j: %s', (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(problem)])
  })

  it('requires its key, which signs the URLs', () => {
    expect(
      problemsOf({ AZURE_STORAGE_CONNECTION_STRING: 'AccountName=files;SharedAccessSignature=sv' }),
    ).toEqual([expect.stringContaining('AccountKey')])
  })
})

describe('the S3 bucket', () => {
  const keys = { S3_ACCESS_KEY_ID: 'an-id', S3_SECRET_ACCESS_KEY: 'hunter2' }

  it('is at Amazon, addressed by host name, unless another store is named', () => {
    expect(readConfig({ S3_BUCKET: 'files', S3_REGION: 'eu-central-1', ...keys }).s3).toEqual({
      bucket: 'files',
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
      region: 'eu-central-1',
      accessKeyId: 'an-id',
      secretAccessKey: 'hunter2',
      profile: '',
      pathStyle: false,
      encryption: '',
      kmsKeyId: '',
      location: 'eu-central-1',
    })
    expect(
      readConfig({ S3_BUCKET: 'files', S3_ENDPOINT: 'https://s3.example.com/', ...keys }).s3,
    ).toMatchObject({
      endpoint: 'https://s3.example.com',
      region: 'us-east-1',
      pathStyle: true,
      location: undefined,
    })
  })

  it('accepts Amazon’s names for keys and regions', () => {
    const env = {
      AWS_ACCESS_KEY_ID: 'an-id',
      AWS_SECRET_ACCESS_KEY: 'hunter2',
      AWS_REGION: 'eu-west-1',
    }
    expect(readConfig({ S3_BUCKET: 'files', ...env }).s3).toMatchObject({
      accessKeyId: 'an-id',
      secretAccessKey: 'hunter2',
      region: 'eu-west-1',
    })
    expect(readConfig(env).s3).toBeNull()
  })

  it.each<Env>([
    {},
    { AWS_ACCESS_KEY_ID: 'an-id', AWS_SECRET_ACCESS_KEY: 'hunter2', AWS_SESSION_TOKEN: 'ends' },
    { AWS_ACCESS_KEY_ID: 'an-id', AWS_SECRET_ACCESS_KEY: 'hunter2', AWS_PROFILE: 'files' },
    { AWS_ACCESS_KEY_ID: 'an-id', AWS_SECRET_ACCESS_KEY: 'hunter2', S3_PROFILE: 'files' },
  ])('uses the identity that the AWS SDK finds: %j', env => {
    expect(readConfig({ S3_BUCKET: 'files', S3_REGION: 'eu-west-1', ...env }).s3).toMatchObject({
      accessKeyId: '',
      secretAccessKey: '',
      profile: env.S3_PROFILE ?? '',
    })
  })

  it.each<[string[], Env]>([
    [['S3_BUCKET'], { ...keys }],
    [['S3_BUCKET'], { S3_ENDPOINT: 'https://s3.example.com' }],
    [['S3_REGION'], { S3_BUCKET: 'files' }],
    [
      ['S3_ACCESS_KEY_ID'],
      { S3_BUCKET: 'files', S3_REGION: 'eu-west-1', S3_SECRET_ACCESS_KEY: 'hunter2' },
    ],
    [['S3_PROFILE'], { S3_BUCKET: 'files', S3_REGION: 'eu-west-1', S3_PROFILE: 'files', ...keys }],
    [
      ['S3_SECRET_ACCESS_KEY'],
      { S3_BUCKET: 'files', S3_REGION: 'eu-west-1', S3_ACCESS_KEY_ID: 'an-id' },
    ],
    [['S3_BUCKET'], { S3_BUCKET: 'Files', S3_REGION: 'eu-west-1', ...keys }],
    [['S3_PATH_STYLE'], { S3_BUCKET: 'my.files', S3_REGION: 'eu-west-1', ...keys }],
    [
      ['S3_KMS_KEY_ID'],
      { S3_BUCKET: 'files', S3_REGION: 'eu-west-1', S3_KMS_KEY_ID: 'key', ...keys },
    ],
    [
      ['BLOB_PUBLIC_URL'],
      { S3_BUCKET: 'files', S3_REGION: 'eu-west-1', BLOB_PUBLIC_URL: 'https://a.b/c', ...keys },
    ],
    [
      ['S3_BUCKET'],
      {
        S3_BUCKET: 'files',
        S3_REGION: 'eu-west-1',
        ...keys,
        AZURE_STORAGE_CONNECTION_STRING: 'AccountName=files;AccountKey=a2V5',
      },
    ],
  ])('requires all of its settings, and refuses others: %j', (named, env) => {
    const problems = problemsOf(env)
    expect(problems.map(problem => problem.slice(0, problem.indexOf(':')))).toEqual(named)
    expect(problems.join()).not.toContain('hunter2')
  })
})

describe('NODE_ENV=production', () => {
  it('refuses a generated secret', () => {
    expect(problemsOf({ NODE_ENV: 'production', ...provider('GITHUB') })).toEqual([
      expect.stringMatching(/^SECRET_KEY: must be set/),
    ])
  })

  it('uses its own accounts instead of the embedded sign-in, also on loopback', () => {
    const production = { NODE_ENV: 'production', SECRET_KEY: secret }
    expect(readConfig(production).accounts).toBe(true)
    expect(problemsOf({ ...production, SIGN_IN: 'providers' })).toEqual([
      expect.stringMatching(/^SIGN_IN: .+ SIGN_IN=accounts$/),
    ])
  })

  it('accepts a secret and a provider that are set', () => {
    const config = readConfig({ NODE_ENV: 'production', SECRET_KEY: secret, ...provider('GITHUB') })
    expect(config).toMatchObject({ production: true, secretKey: secret })
  })
})

describe('SIGN_UP and LINK_BY_EMAIL', () => {
  it('define who may create an account', () => {
    const ruleOf = (SIGN_UP: string) => readConfig({ SIGN_UP }).signUp
    expect(ruleOf('')).toBeNull()
    expect(ruleOf('invited')).toEqual({ rule: 'invited' })
    expect(ruleOf('domains:Example.com, b.example')).toEqual({
      rule: 'domains',
      domains: ['example.com', 'b.example'],
    })
    expect(ruleOf('claim:groups=staff, a=b')).toEqual({
      rule: 'claim',
      claim: 'groups',
      values: ['staff', 'a=b'],
    })
  })

  it('join accounts by address with a single provider, unless set otherwise', () => {
    const [one, two] = [provider('A'), { ...provider('A'), ...provider('B') }]
    expect([{}, one, two].map(env => readConfig(env).linkByEmail)).toEqual([true, true, false])
    expect(readConfig({ ...two, LINK_BY_EMAIL: 'true' }).linkByEmail).toBe(true)
    expect(readConfig({ ...one, LINK_BY_EMAIL: 'false' }).linkByEmail).toBe(false)
  })
})

describe('GROUP_ROLES', () => {
  const id = '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44'

  it('grants groups roles in workspaces', () => {
    expect(readConfig({})).toMatchObject({ groupClaim: 'groups', groupRoles: [] })
    const text = `staff=${id}/editor, /eng/lead=of=all=${id.toUpperCase()}/ADMIN`
    const roles = (name: string) => [
      { provider: name, group: 'staff', workspaceId: id, role: 'editor' },
      { provider: name, group: '/eng/lead=of=all', workspaceId: id, role: 'admin' },
    ]
    expect(readConfig({ GROUP_ROLES: text }).groupRoles).toEqual(roles('local'))
    expect(readConfig({ ...provider('MY_SSO'), GROUP_ROLES: text }).groupRoles).toEqual(
      roles('my-sso'),
    )
  })

  it('names the provider, which is required with several providers', () => {
    const two = { ...provider('SSO'), ...provider('GITLAB') }
    const { groupRoles } = readConfig({
      ...two,
      GROUP_ROLES: `SSO: urn:staff=${id}/editor,gitlab:a/b=${id}/viewer`,
    })
    expect(groupRoles).toEqual([
      { provider: 'sso', group: 'urn:staff', workspaceId: id, role: 'editor' },
      { provider: 'gitlab', group: 'a/b', workspaceId: id, role: 'viewer' },
    ])
    expect(
      problemsOf({ ...two, GROUP_ROLES: `sso:staff=${id}/editor,staff=${id}/editor` }),
    ).toEqual([
      'GROUP_ROLES: "staff" names no provider; write <provider>:staff=..., where the provider is one of sso, gitlab',
    ])
    expect(problemsOf({ ...provider('SSO'), GROUP_ROLES: `urn:staff=${id}/editor` })).toEqual([
      'GROUP_ROLES: there is no provider "urn"; what stands before the first colon must be sso',
    ])
  })

  it.each([
    'staff',
    `staff=${id}`,
    `staff=${id}/owner`,
    'staff=team/editor',
    `=${id}/editor`,
    `sso:=${id}/editor`,
    `a=${id}/viewer,`,
  ])('refuses %s', text => {
    expect(problemsOf({ GROUP_ROLES: text })).toEqual([
      expect.stringMatching(/^GROUP_ROLES: must be/),
    ])
  })
})

describe('SIGN_IN', () => {
  const there = { PUBLIC_URL: 'https://files.example.com' }

  it('defaults to accounts on a public service without a provider', () => {
    expect(readConfig(there).accounts).toBe(true)
    expect(readConfig({}).accounts).toBe(false)
    expect(readConfig({ ...there, ...provider('GITHUB') }).accounts).toBe(false)
  })

  it('adds accounts to providers', () => {
    const both = readConfig({ ...there, ...provider('GITHUB'), SIGN_IN: 'accounts' })
    expect(both.accounts).toBe(true)
    // The operator has to confirm that both verify the same addresses.
    expect(both.linkByEmail).toBe(false)
  })

  it('refuses the embedded sign-in on a public service', () => {
    expect(problemsOf({ ...there, SIGN_IN: 'providers' })).toEqual([
      expect.stringMatching(/^SIGN_IN: .+ loopback/),
    ])
  })

  it('reserves the names of the built-in providers', () => {
    expect(problemsOf({ ...there, ...provider('ACCOUNTS') })).toEqual([
      expect.stringMatching(/^OAUTH_ACCOUNTS_CLIENT_ID: choose another name/),
    ])
  })

  it('uses a configured provider by default', () => {
    expect(problemsOf({ PUBLIC_URL: 'https://files.example.com', ...provider('GITHUB') })).toEqual(
      [],
    )
  })
})

describe('OAUTH_<NAME>_*', () => {
  it('creates a provider for each name', () => {
    const { providers } = readConfig({
      ...provider('GITHUB', { OAUTH_GITHUB_SCOPES: 'read:user, user:email' }),
      ...provider('MY_IDP'),
    })
    const addresses = {
      authorizeUrl: 'https://id.example.com/authorize',
      tokenUrl: 'https://id.example.com/token',
      userinfoUrl: 'https://id.example.com/me',
      clientId: 'an-id',
      clientSecret: 'a-secret',
    }
    expect(providers).toEqual([
      {
        name: 'github',
        issuer: null,
        dialect: 'standard',
        signOut: false,
        ...addresses,
        scopes: ['read:user', 'user:email'],
      },
      {
        name: 'my-idp',
        issuer: null,
        dialect: 'standard',
        signOut: false,
        ...addresses,
        scopes: ['openid', 'email', 'profile'],
      },
    ])
  })

  it('lists each missing part', () => {
    const missing = (env: Env) =>
      problemsOf(env)
        .map(problem => problem.replace(/; without.*/, ''))
        .sort()
    const parts = (names: string[]) => names.map(field => `OAUTH_MY_IDP_${field}: is missing`)
    expect(missing({ OAUTH_MY_IDP_SCOPES: 'openid' })).toEqual(
      parts(['CLIENT_ID', 'CLIENT_SECRET', 'ISSUER']),
    )
    expect(missing({ OAUTH_MY_IDP_TOKEN_URL: 'https://id.example.com/token' })).toEqual(
      parts(['AUTHORIZE_URL', 'CLIENT_ID', 'CLIENT_SECRET', 'USERINFO_URL']),
    )
  })

  const client = (name: string, more: Env = {}) => ({
    [`OAUTH_${name}_CLIENT_ID`]: 'an-id',
    [`OAUTH_${name}_CLIENT_SECRET`]: 'a-secret',
    ...more,
  })
  const only = (env: Env) => readConfig(env).providers[0]

  it('requires only the issuer of an OpenID Connect provider', () => {
    const env = client('SSO', { OAUTH_SSO_ISSUER: 'https://sso.example.com/realms/a/' })
    expect(only(env)).toMatchObject({
      issuer: 'https://sso.example.com/realms/a',
      tokenUrl: '',
      dialect: 'standard',
    })
    expect(problemsOf(client('SSO', { OAUTH_SSO_ISSUER: 'sso.example.com' }))).toEqual([
      expect.stringMatching(/^OAUTH_SSO_ISSUER: /),
    ])
    // A configured URL takes precedence over discovery.
    expect(only({ ...env, OAUTH_SSO_USERINFO_URL: 'https://a.example/me' })?.userinfoUrl).toBe(
      'https://a.example/me',
    )
  })

  it('has presets for GitHub, GitLab, Google and Microsoft', () => {
    expect(only(client('GITHUB'))).toMatchObject({
      issuer: null,
      dialect: 'github',
      scopes: ['read:user', 'user:email'],
      tokenUrl: 'https://github.com/login/oauth/access_token',
      userinfoUrl: 'https://api.github.com/user',
    })
    expect(only(client('GITHUB', { OAUTH_GITHUB_HOST: 'git.example.com' }))?.userinfoUrl).toBe(
      'https://git.example.com/api/v3/user',
    )
    expect(only(client('GITLAB'))?.issuer).toBe('https://gitlab.com')
    expect(only(client('GITLAB', { OAUTH_GITLAB_HOST: 'git.example.com' }))?.issuer).toBe(
      'https://git.example.com',
    )
    expect(only(client('GOOGLE'))?.issuer).toBe('https://accounts.google.com')
    const microsoft = 'https://login.microsoftonline.com'
    expect(only(client('MICROSOFT'))).toMatchObject({
      issuer: `${microsoft}/common/v2.0`,
      dialect: 'microsoft',
    })
    expect(only(client('MICROSOFT', { OAUTH_MICROSOFT_TENANT: 'example.com' }))?.issuer).toBe(
      `${microsoft}/example.com/v2.0`,
    )
  })

  it('refuses settings that a provider does not use, and Keycloak without its issuer', () => {
    expect(problemsOf(client('GOOGLE', { OAUTH_GOOGLE_TENANT: 'example.com' }))).toEqual([
      expect.stringMatching(/^OAUTH_GOOGLE_TENANT: .+remove/),
    ])
    expect(
      problemsOf(client('GITLAB', { OAUTH_GITLAB_HOST: 'https://git.example.com/x' })),
    ).toEqual([expect.stringMatching(/^OAUTH_GITLAB_HOST: /)])
    expect(problemsOf(client('KEYCLOAK'))).toEqual([
      expect.stringMatching(/^OAUTH_KEYCLOAK_ISSUER: is missing/),
    ])
  })

  it('accepts only web addresses', () => {
    expect(problemsOf(provider('A', { OAUTH_A_TOKEN_URL: 'file:///etc/passwd' }))).toEqual([
      expect.stringMatching(/^OAUTH_A_TOKEN_URL: /),
    ])
  })
})

describe('MOVE_FROM_', () => {
  it('configures the source store of a move like the target store', () => {
    expect(readConfig({}).moveFrom).toBeNull()
    const from = {
      MOVE_FROM_S3_BUCKET: 'old',
      MOVE_FROM_S3_ENDPOINT: 'http://s3.local',
      AWS_ACCESS_KEY_ID: 'id',
    }
    const { moveFrom, blobDir } = readConfig({
      ...from,
      MOVE_FROM_S3_SECRET_ACCESS_KEY: 'key',
      BLOB_DIR: '/new',
    })
    expect(moveFrom?.s3).toMatchObject({ bucket: 'old', accessKeyId: 'id', secretAccessKey: 'key' })
    expect(blobDir).toBe('/new')
    expect(readConfig({ MOVE_FROM_BLOB_DIR: '/old' }).moveFrom).toMatchObject({
      blobDir: '/old',
      s3: null,
    })
  })

  it('names one store, and reports wrong settings', () => {
    expect(() => readConfig({ MOVE_FROM_S3_REGION: 'eu' })).toThrow(
      /MOVE_FROM_BLOB_DIR: one of .* must be set/,
    )
    expect(() => readConfig({ MOVE_FROM_BLOB_DIR: '/a', MOVE_FROM_S3_BUCKET: 'old' })).toThrow(
      /and no other/,
    )
    expect(() => readConfig({ MOVE_FROM_S3_BUCKET: 'x' })).toThrow(
      /MOVE_FROM_S3_BUCKET: must be a bucket name/,
    )
  })
})

describe('describeSettings', () => {
  const described = [...describeSettings().matchAll(/^ {2}(\S+)\n {6}(.+)\n {6}default: (.+)$/gm)]
  const names = described.map(([, name]) => name)

  it('covers exactly the settings that are read', () => {
    const read = new Set<string>()
    const spy = new Proxy<Env>({}, { get: (_env, name) => void read.add(String(name)) })
    readConfig(spy)
    expect(read.size).toBeGreaterThan(20)
    // PATH belongs to the system, and is used to find programs.
    read.delete('PATH')
    const moved = [...read].filter(name => name.startsWith('MOVE_FROM_'))
    for (const name of moved) {
      expect(names).toContain(name.slice('MOVE_FROM_'.length))
      read.delete(name)
    }
    read.add('MOVE_FROM_<NAME>')
    expect(names.filter(name => !name?.startsWith('OAUTH_<NAME>_')).sort()).toEqual(
      [...read].sort(),
    )
  })

  it('covers every part of a provider', () => {
    const more = ['ISSUER', 'SCOPES', 'SIGN_OUT', 'TENANT', 'HOST'].map(
      field => `OAUTH_<NAME>_${field}`,
    )
    const parts = [...Object.keys(provider('<NAME>')), ...more]
    expect(names.filter(name => name?.startsWith('OAUTH_')).sort()).toEqual(parts.sort())
  })

  it('gives each setting a meaning and a default', () => {
    expect(describeSettings().split('\n')).toHaveLength(3 * described.length)
    expect(describeSettings()).toContain('  PORT\n      port to listen on\n      default: 8080')
  })
})
