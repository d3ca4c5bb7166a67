import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import type { Command } from 'commander'
import { schema } from '../../schema/index.ts'
import { createProgram } from '../../src/cli/program.ts'
import { readConfig } from '../../src/config.ts'
import { createApiDocument } from '../../src/rest/openapi.ts'
import { routesOf } from '../../src/rest/routes.ts'
import { settingRows } from '../../src/settings.ts'
import { blocksOf, type Page, pageFile } from '../docs.ts'

const read = (page: Page) => readFileSync(pageFile(page), 'utf8')
const cell = (value: string) => value.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
const tableOf = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |\n`).join('')

/** What stands between two marks; with UPDATE_DOCS=1 it is written. */
function expectTable(page: Page, name: string, table: string): void {
  const text = read(page)
  const begin = `<!-- ${name}:begin -->\n`
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(`<!-- ${name}:end -->`)]
  if (process.env.UPDATE_DOCS) writeFileSync(pageFile(page), text.slice(0, from) + table + text.slice(to))
  const now = read(page)
  expect(now.slice(from, now.indexOf(`<!-- ${name}:end -->`))).toBe(table)
}

const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
const routes = routesOf(schema)
const document = createApiDocument(schema, routes, () => 'http://localhost', { proxied: false }).document()
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, path, ...operation })),
)

/** The areas in the order in which somebody meets them; what is not named comes after. */
const order = [
  'auth',
  'files',
  'folders',
  'uploads',
  'notes',
  'downloads',
  'shares',
  'user',
  'api keys',
  'workspaces',
  'members',
]
const rank = (area: string) => (order.includes(area) ? order.indexOf(area) : order.length)

/** Each operation of the interface once, by area: its routes, its field, and what it does. */
function interfaceRows(): string[][] {
  const areas = document.tags.map(tag => tag.name).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
  const rows = areas.flatMap(area => {
    const ofArea = operations
      .filter(operation => operation.tags.includes(area))
      .sort((a, b) => a.path.localeCompare(b.path))
    const names = [...new Set(ofArea.map(({ path, summary }) => `${path} ${summary}`))]
    return names.map(name => {
      const same = ofArea.filter(({ path, summary }) => `${path} ${summary}` === name)
      const field = routes.find(route => same.some(({ route: r }) => r === `${route.method} ${route.path}`))?.field
      return [
        area,
        same.map(({ route }) => `\`${route}\``).join(' '),
        field ? `\`${field}\`` : '',
        same[0]?.summary ?? '',
      ]
    })
  })
  const shown = new Set(routes.map(route => route.field))
  const others = roots.flatMap(root =>
    Object.values(root?.getFields() ?? {})
      .filter(field => !shown.has(field.name))
      .map(field => [
        root === schema.getSubscriptionType() ? 'events' : 'graph',
        '',
        `\`${field.name}\``,
        (field.description ?? '').split(/[.;:](?=\s|$)/)[0] ?? '',
      ]),
  )
  const all = [...rows, ...others]
  // An area is named once.
  return all.map(([area = '', ...rest], i) => [all[i - 1]?.[0] === area ? '' : area, ...rest].map(cell))
}

/** Every command of the command line that does something, with how it is called. */
function commandRows(command: Command, path: string): string[][] {
  const shown = command.createHelp().visibleCommands(command)
  return shown
    .filter(below => below.name() !== 'help')
    .flatMap(below => {
      const named = `${path} ${below.name()}`
      if (below.commands.length > 0) return commandRows(below, named)
      const args = below.registeredArguments.map(a => {
        const name = a.variadic ? `${a.name()}...` : a.name()
        return a.required ? ` <${name}>` : ` [${name}]`
      })
      return [[`\`${named}${args.join('')}\``, cell(below.description())]]
    })
}

describe('README.md and docs', () => {
  it('begins with the two commands', () => {
    const [first, second] = [...read('README.md').matchAll(/^npm install && npm (\w+)/gm)].map(([, name]) => name)
    expect([first, second]).toEqual(['start', 'test'])
  })

  it('has every setting with its default; UPDATE_DOCS=1 npm test writes them', () => {
    const rows = settingRows().map(({ name, help, fallback }) => [`\`${name}\``, cell(help), cell(fallback)])
    expectTable('docs/operate.md', 'settings', tableOf(['setting', 'meaning', 'default'], rows))
  })

  it('has every command of the command line; UPDATE_DOCS=1 npm test writes them', () => {
    expectTable(
      'docs/command-line.md',
      'commands',
      tableOf(['command', 'what it does'], commandRows(createProgram('0'), 'satchel')),
    )
  })

  it('has every operation by both its names; UPDATE_DOCS=1 npm test writes them', () => {
    expectTable('docs/integrate.md', 'interface', tableOf(['area', 'REST', 'GraphQL', 'what it does'], interfaceRows()))
    const [, table = ''] =
      /<!-- interface:begin -->\n(.*?)<!-- interface:end -->/s.exec(read('docs/integrate.md')) ?? []
    const pairs = table
      .split('\n')
      .slice(2, -1)
      .map(row => row.split(' | ').map(part => [...part.matchAll(/`([^`]+)`/g)].map(([, name]) => name)))
      .flatMap(([, rest = [], fields = []]) =>
        (rest.length > 0 ? rest : ['']).map(route => `${route} = ${fields.join()}`),
      )
    // In both directions: no route, no field is missing, and none stands there that does not exist.
    const declared = routes.flatMap(({ method, also, path, field }) =>
      (also ? [method, also] : [method]).map(m => `${m} ${path} = ${field}`),
    )
    const ofSigningIn = operations.flatMap(({ route }) => (route.includes(' /auth/') ? [`${route} = `] : []))
    const withRoute = new Set(routes.map(route => route.field))
    const fields = roots.flatMap(root => Object.keys(root?.getFields() ?? {})).filter(name => !withRoute.has(name))
    expect(pairs.sort()).toEqual([...declared, ...ofSigningIn, ...fields.map(name => ` = ${name}`)].sort())
  })

  it('configures what can be configured: its examples make a configuration with nothing embedded', () => {
    const lines = blocksOf('docs/operate.md', '# Operating Satchel').flatMap(({ text }) => [
      ...text.matchAll(/^([A-Z][A-Z_]+)=(.*)$/gm),
    ])
    const settings = Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value.replaceAll("'", '')]))
    expect(readConfig(settings)).toMatchObject({
      database: { dialect: 'mysql' },
      azureConnectionString: expect.stringContaining('AccountKey='),
      redisUrl: expect.stringMatching(/^redis:/),
      smtpUrl: expect.stringMatching(/^smtp:/),
      providers: [{ name: 'sso' }],
    })
    const known = settingRows().map(({ name }) => name)
    const named = Object.keys(settings).map(name => name.replace(/^OAUTH_SSO_/, 'OAUTH_<NAME>_'))
    expect(known).toEqual(expect.arrayContaining(named))
  })
})
