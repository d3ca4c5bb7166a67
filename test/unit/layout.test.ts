import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * The layers from the top down. A file imports from its own folder and from lower layers, including
 * types. The longest prefix counts, so that callers, roles, scopes and passwords are below the
 * services, and the modules that find callers and open drives are above them.
 */
const layers = [
  ['src/main.ts', 'src/doctor.ts', 'src/admin.ts', 'src/cli/', 'src/console/'],
  ['src/admin/'],
  ['src/app.ts', 'src/backup/'],
  ['src/start.ts'],
  ['src/sign-in/embedded/'],
  ['src/pages/'],
  ['src/graphql/', 'src/openapi/', 'src/mcp/'],
  ['src/apps/'],
  ['src/rest/', 'src/dav/', 'src/tus/'],
  ['schema/'],
  ['schema/context.ts'],
  ['src/sign-in/'],
  ['src/http/'],
  ['src/access/'],
  ['src/jobs/', 'src/doctor/'],
  ['src/services/'],
  ['src/access/guessing.ts', 'src/access/password.ts', 'src/access/scopes.ts'],
  ['db/', 'src/storage/'],
  ['src/access/audit-log.ts'],
  ['src/access/caller.ts', 'src/access/roles.ts'],
  ['src/values/'],
  ['src/workers/'],
  ['src/derive/'],
  ['src/coordination/'],
  ['src/telemetry/'],
  ['src/runtime/', 'src/upload-engine/', 'src/renderers/'],
  ['src/language/', 'src/documents/'],
  ['src/config/', 'src/formats/'],
]

/** Files that import no modules of this project except the listed ones. */
const leaves: Record<string, string[]> = {
  'src/runtime/errors.ts': [],
  'src/access/caller.ts': ['type src/values/tree.ts'],
  'src/values/limits.ts': [],
  'src/values/tree.ts': [],
  'src/runtime/remembered.ts': [],
  'src/runtime/tokens.ts': [],
  'src/runtime/log.ts': ['type src/config/config.ts'],
  'src/values/paths.ts': ['src/runtime/errors.ts'],
}

/** Values that the schema imports from the services, besides types. */
const schemaValues = ['schema/paging.ts -> src/services/page.ts']

const sources = ['schema', 'src', 'db'].flatMap(walk)
const read = (file: string) => readFileSync(join(root, file), 'utf8')

function walk(dir: string): string[] {
  return readdirSync(join(root, dir), { withFileTypes: true }).flatMap(entry => {
    const path = `${dir}/${entry.name}`
    if (entry.isDirectory()) return walk(path)
    return /\.tsx?$/.test(entry.name) ? [path] : []
  })
}

/** The project files that a file imports, with `type ` before imports that vanish at run time. */
function importsOf(file: string): { to: string; type: boolean }[] {
  const statements = read(file).matchAll(
    /^(?:import|export)( type)?\b[^'"]*?\bfrom '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  )
  return [...statements].map(([, type, from, bare, dynamic]) => ({
    to: relative(root, join(root, dirname(file), from ?? bare ?? dynamic ?? '')),
    type: type !== undefined,
  }))
}

const arrows = sources.flatMap(file =>
  importsOf(file).map(({ to, type }) => ({
    file,
    to,
    type,
    target: `${type ? 'type ' : ''}${to}`,
  })),
)

/**
 * The folder of a file according to `layers`, and its layer, 0 at the top. Undefined for a file
 * without a layer.
 */
function placeOf(file: string): { folder: string; layer: number } | undefined {
  const holds = (folder: string) =>
    folder.endsWith('/') ? file.startsWith(folder) : file === folder
  const places = layers.flatMap((folders, layer) =>
    folders.filter(holds).map(folder => ({ folder, layer })),
  )
  return places.sort((a, b) => b.folder.length - a.folder.length)[0]
}

const folderOf = (file: string) => file.slice(0, file.lastIndexOf('/'))
const nameOf = (file: string) => file.slice(file.lastIndexOf('/') + 1).replace(/\.tsx?$/, '')
const fileNames = (dir: string) => sources.filter(file => folderOf(file) === dir).map(nameOf)

describe('The folders', () => {
  it('are the only ones at the top level', () => {
    const made = ['node_modules', 'dist', 'data', 'coverage']
    const decided = [
      ...['schema', 'src', 'db', 'test', 'docker', 'docs'],
      ...[
        'package.json',
        'package-lock.json',
        'tsconfig.json',
        'tsconfig.build.json',
        'biome.json',
        'knip.json',
        'README.md',
      ],
      ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'SECURITY.md'],
    ]
    const entries = readdirSync(root).filter(name => !name.startsWith('.'))
    expect(entries.filter(name => !made.includes(name) && !decided.includes(name))).toEqual([])
  })

  it('leave the entry points and the composition at the root of src', () => {
    expect(fileNames('src')).toEqual(['admin', 'app', 'doctor', 'main', 'start'])
  })

  it('have a layer for every file', () => {
    expect(sources.filter(file => !placeOf(file))).toEqual([])
  })
})

describe('Migrations', () => {
  it('use no current model and no query, so that they never change', () => {
    const used = arrows.filter(
      ({ file, to }) =>
        file.startsWith('db/migrations/') &&
        !to.startsWith('db/migrations/') &&
        to !== 'db/migration.ts',
    )
    expect(used.map(({ file, to }) => `${file} -> ${to}`)).toEqual([])
    const calls = sources.filter(
      file => file.startsWith('db/migrations/') && /\.(sync|bulkCreate|update)\(/.test(read(file)),
    )
    expect(calls).toEqual([])
  })
})

describe('Names', () => {
  it('are in kebab-case', () => {
    const folders = sources.flatMap(file => folderOf(file).split('/'))
    expect(
      [...sources.map(nameOf), ...folders].filter(
        name => !/^[a-z0-9]+(-[a-z0-9]+)*(\.d)?$/.test(name),
      ),
    ).toEqual([])
    const migrations = fileNames('db/migrations')
    expect(migrations.filter(name => !/^\d{4}-/.test(name))).toEqual([])
    expect(new Set(migrations.map(name => name.slice(0, 4))).size).toBe(migrations.length)
  })

  const helpers = [
    'base',
    'access',
    'batch',
    'builder',
    'columns',
    'connection',
    'context',
    'directive',
    'entry-ref',
    'enums',
    'index',
    'meaning',
    'mutation',
    'node',
    'page',
    'paging',
    'print',
    'range',
    'refs',
    'scalars',
  ]
  const nouns = (dir: string) => fileNames(dir).filter(name => !helpers.includes(name))

  it('of nouns are singular', () => {
    const services = [...new Set(sources.map(folderOf))].filter(dir =>
      dir.startsWith('src/services'),
    )
    const named = ['schema', ...services, 'db/models'].flatMap(nouns)
    expect(named.filter(name => /[^s]s$/.test(name))).toEqual([])
  })

  it('share one stem: a service for each schema area, and a model for each table', () => {
    const services = sources.filter(file => file.startsWith('src/services/')).map(nameOf)
    // The caller's account is a user, and a caller's view spans many drives. Changes of shares,
    // file requests, accounts and plans have no services of their own.
    const served = [
      'file-request-change',
      'operator-change',
      'plan-change',
      'share-change',
      'viewer',
      'visible',
    ]
    expect(nouns('schema').filter(noun => !services.includes(noun))).toEqual(served)
    const tableOf = (model: string) =>
      /tableName: '(\w+)'/.exec(read(`db/models/${model}.ts`))?.[1]?.replaceAll('_', '-')
    const renamed = nouns('db/models').filter(model => tableOf(model) !== model)
    // BLOB is a reserved word of MySQL, and a row of the outbox is a job.
    expect(renamed).toEqual(['blob', 'job'])
  })
})

describe('Imports', () => {
  it('point down', () => {
    const up = arrows.filter(({ file, to }) => {
      const [from, into] = [placeOf(file), placeOf(to)]
      return from && from.folder !== into?.folder && !(into && into.layer > from.layer)
    })
    expect(up.map(({ file, target }) => `${file} -> ${target}`)).toEqual([])
  })

  it.each(Object.keys(leaves))('%s is a leaf', file => {
    expect(
      arrows.filter(a => a.file === file && !leaves[file]?.includes(a.target)).map(a => a.target),
    ).toEqual([])
  })

  it('of the command line reach only a few shared modules of the service', () => {
    const own = ['src/cli/', 'src/upload-engine/']
    const isOwn = (file: string) => own.some(folder => file.startsWith(folder))
    const out = arrows.filter(({ file, to }) => file.startsWith('src/cli/') && !isOwn(to))
    expect([...new Set(out.map(({ target }) => target))].sort()).toEqual([
      'src/config/certificates.ts',
      'src/renderers/shown-text.ts',
      'src/runtime/is-running.ts',
      'src/runtime/open-browser.ts',
      'src/values/tag-key.ts',
      'type src/access/scopes.ts',
      'type src/runtime/errors.ts',
    ])
  })

  it('of the upload engine stay in its folder, so that it runs in Node.js and browsers', () => {
    const engine = sources.filter(file => file.startsWith('src/upload-engine/'))
    expect(arrows.filter(({ file, to }) => engine.includes(file) && !engine.includes(to))).toEqual(
      [],
    )
    const foreign =
      /\bfrom '[^.]|\bimport\(|\b(?:process|Buffer|window|document|navigator|NodeJS)\b\./
    const everywhere = engine.filter(file => !file.startsWith('src/upload-engine/browser/'))
    expect(everywhere.filter(file => foreign.test(read(file)))).toEqual([])
  })

  it('of the formats stay in their folder, so that they run in Node.js and browsers', () => {
    const formats = sources.filter(file => file.startsWith('src/formats/'))
    expect(
      arrows.filter(({ file, to }) => formats.includes(file) && !formats.includes(to)),
    ).toEqual([])
    const foreign = /\bfrom '[^.]|\bimport\(|\b(?:process|Buffer|window|document|navigator)\.\w/
    expect(formats.filter(file => foreign.test(read(file)))).toEqual([])
  })

  it('of the renderers stay in their folder, so that pages and console show files alike', () => {
    const out = arrows.filter(
      ({ file, to }) =>
        file.startsWith('src/renderers/') && !/^src\/(renderers|documents|formats)\//.test(to),
    )
    expect(out.map(({ file, to }) => `${file} -> ${to}`)).toEqual([])
  })

  it('of the console reach only the engine, the formats, documents, renderers and languages', () => {
    const isOwn = (file: string) =>
      /^src\/(console|documents|upload-engine|formats|renderers|language)\//.test(file)
    const out = arrows.filter(({ file, to }) => file.startsWith('src/console/') && !isOwn(to))
    expect(out.map(({ file, to }) => `${file} -> ${to}`)).toEqual([])
    const into = arrows.filter(
      ({ file, to }) => !file.startsWith('src/console/') && to.startsWith('src/console/'),
    )
    expect(into.map(({ file, to }) => `${file} -> ${to}`)).toEqual([])
  })

  it('of REST operations and of the graph never cross, except for shared modules', () => {
    const shared = ['schema/base.ts', 'schema/context.ts', 'schema/scalars.ts']
    const isShared = (file: string) => file.startsWith('schema/plugins/') || shared.includes(file)
    const isRest = (file: string) => file.startsWith('schema/rest/')
    const within = arrows.filter(
      a => a.file.startsWith('schema/') && a.to.startsWith('schema/') && !isShared(a.to),
    )
    const across = within.filter(a => isRest(a.file) !== isRest(a.to))
    expect(across.map(({ file, to }) => `${file} -> ${to}`)).toEqual([])
  })

  it('of the schema reach only the types of services', () => {
    const values = arrows.filter(
      a => a.file.startsWith('schema/') && a.to.startsWith('src/services/') && !a.type,
    )
    expect(values.map(({ file, to }) => `${file} -> ${to}`)).toEqual(schemaValues)
  })
})

describe('Only one module', () => {
  const holding = (pattern: RegExp) => sources.filter(file => pattern.test(read(file)))

  it('reads the environment: src/config/config.ts, plus one for the command line', () => {
    const readers = holding(/\bprocess\.env\b|\benv\b[^\n]*'node:process'/)
    // The console build defines its own variables for browsers.
    expect(readers.filter(file => file !== 'src/console/build/vite.ts')).toEqual([
      'src/cli/config.ts',
      'src/config/config.ts',
    ])
  })

  it('uses Azure: src/storage', () => {
    expect(holding(/from '@azure\//).filter(file => folderOf(file) !== 'src/storage')).toEqual([])
  })

  it('signs requests to S3: src/storage/s3-client.ts', () => {
    expect(holding(/from 'aws4'/)).toEqual(['src/storage/s3-client.ts'])
  })

  it('computes a CRC-32: src/upload-engine/crc32.ts', () => {
    expect(holding(/\.padStart\(8, '0'\)/)).toEqual(['src/upload-engine/crc32.ts'])
  })

  it('compares roles: src/access/roles.ts', () => {
    const role = "'(?:owner|admin|editor|viewer)'"
    const compared = new RegExp(
      `[!=]==? ?${role}|${role} ?[!=]==|\\bcase ${role}|\\brole (?:=|<>|!=|IN) ?\\(?${role}`,
    )
    expect(holding(compared).filter(file => file !== 'src/access/roles.ts')).toEqual([])
  })

  it('contains SQL: db', () => {
    const sql =
      /\b(?:SELECT|INSERT INTO|DELETE FROM|WHERE|JOIN|ORDER BY)\b|\bdb\.(?:rows|run|dialect|forUpdate|byKey)\b/
    // The state of the command line is a separate file on the user's computer.
    const own = ['src/cli/two-way/state.ts']
    expect(holding(sql).filter(file => !file.startsWith('db/'))).toEqual(own)
  })
})
