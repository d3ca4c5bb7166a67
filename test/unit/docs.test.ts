import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import type { Command } from 'commander'
import { schema } from '../../schema/index.ts'
import { restSchema } from '../../schema/rest/index.ts'
import { createProgram } from '../../src/cli/program.ts'
import { readConfig } from '../../src/config/config.ts'
import { settingRows } from '../../src/config/help.ts'
import { createApiDocument } from '../../src/openapi/document.ts'
import { routesOf } from '../../src/rest/routes.ts'
import { catalog } from '../../src/telemetry/catalog.ts'
import { blocksOf, type Page, pageFile } from '../support/docs.ts'

const read = (page: Page) => readFileSync(pageFile(page), 'utf8')
const cell = (value: string) =>
  value.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
const tableOf = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |\n`).join('')

/** The text between two marks, which npm run update writes. */
function expectTable(page: Page, name: string, table: string): void {
  const text = read(page)
  const begin = `<!-- ${name}:begin -->\n`
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(`<!-- ${name}:end -->`)]
  if (process.env.UPDATE)
    writeFileSync(pageFile(page), text.slice(0, from) + table + text.slice(to))
  const now = read(page)
  expect(now.slice(from, now.indexOf(`<!-- ${name}:end -->`))).toBe(table)
}

const routes = routesOf(restSchema)
const document = createApiDocument(routes, () => 'http://localhost', { proxied: false }).document()
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    route: `${method.toUpperCase()} ${path}`,
    path,
    ...operation,
  })),
)

/** Shows the name of an area only in its first row. */
const grouped = (rows: string[][]) =>
  rows.map(([area = '', ...rest], i) => [rows[i - 1]?.[0] === area ? '' : area, ...rest].map(cell))

/** Every REST operation by area, with its routes and its description. */
function interfaceRows(): string[][] {
  const areas = document.tags.map(tag => tag.name)
  const rows = areas.flatMap(area => {
    const ofArea = operations
      .filter(operation => operation.tags.includes(area))
      .sort((a, b) => a.path.localeCompare(b.path))
    const names = [...new Set(ofArea.map(({ path, summary }) => `${path} ${summary}`))]
    return names.map(name => {
      const same = ofArea.filter(({ path, summary }) => `${path} ${summary}` === name)
      return [area, same.map(({ route }) => `\`${route}\``).join(' '), same[0]?.summary ?? '']
    })
  })
  return grouped(rows)
}

/** Every GraphQL root field with its description. */
function graphRows(): string[][] {
  const roots = {
    read: schema.getQueryType(),
    change: schema.getMutationType(),
    wait: schema.getSubscriptionType(),
  }
  const rows = Object.entries(roots).flatMap(([kind, root]) =>
    Object.values(root?.getFields() ?? {})
      .map(({ name, description }) => [
        kind,
        `\`${name}\``,
        (description ?? '').split(/[.;:](?=\s|$)/)[0] ?? '',
      ])
      .sort(([, a = ''], [, b = '']) => a.localeCompare(b)),
  )
  return grouped(rows)
}

/** Every executable command of the command line, with its usage. */
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
  it('begin with the two start commands', () => {
    const [first, second] = [...read('README.md').matchAll(/^npm install && npm (\w+)/gm)].map(
      ([, name]) => name,
    )
    expect([first, second]).toEqual(['start', 'test'])
  })

  it('list every setting with its default; npm run update writes them', () => {
    const rows = settingRows().map(({ name, help, fallback }) => [
      `\`${name}\``,
      cell(help),
      cell(fallback),
    ])
    expectTable('docs/operate.md', 'settings', tableOf(['setting', 'meaning', 'default'], rows))
  })

  it('list every metric; npm run update writes them', () => {
    const rows = catalog.map(({ name, type, labels, help }) => [
      `\`${name}\``,
      ...[type, labels.map(label => `\`${label}\``).join(', '), cell(help)],
    ])
    expectTable(
      'docs/operate.md',
      'metrics',
      tableOf(['metric', 'type', 'labels', 'meaning'], rows),
    )
  })

  it('list every command of the command line; npm run update writes them', () => {
    expectTable(
      'docs/command-line.md',
      'commands',
      tableOf(['command', 'what it does'], commandRows(createProgram('0'), 'satchel')),
    )
  })

  it('list every decision with its date and status; npm run update writes the list', () => {
    const folder = new URL('.', pageFile('docs/decisions/README.md'))
    const rows = readdirSync(folder)
      .filter(name => name.endsWith('.md') && name !== 'README.md')
      .map(name => {
        const text = read(`docs/decisions/${name}` as Page)
        const [, title, status, date] =
          /^# (.+)\n\n\*\*Status\.\*\* (Accepted|Superseded), (\d{4}-\d\d-\d\d)\b/.exec(text) ?? []
        if (!title || !status || !date)
          throw new Error(
            `docs/decisions/${name}: Begin with a title and "**Status.** Accepted, YYYY-MM-DD."`,
          )
        return [`[${title}](${name})`, date, status.toLowerCase()]
      })
      .sort(([one = ''], [other = '']) => one.localeCompare(other))
    expectTable(
      'docs/decisions/README.md',
      'decisions',
      tableOf(['decision', 'date', 'status'], rows),
    )
  })

  it('name no unknown REST operation', () => {
    const others = ['/api/tus', '/api/docs', '/api/openapi.json', '/api/blobs/{token}']
    const patterns = [...operations.map(({ path }) => path), ...others].map(
      path => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    )
    const pages = [
      'README',
      'docs/connect',
      'docs/graphql',
      'docs/integrate',
      'docs/operate',
      'docs/walk',
    ] as const
    const named = pages.flatMap(page => {
      const text = read(page === 'README' ? 'README.md' : `${page}.md`)
      const found = text.matchAll(
        /(?:`(?:GET|POST|PUT|PATCH|DELETE) |\$site|localhost:8080)(\/api\/[\w/{}$.-]*\w\}?)/g,
      )
      return [...found].map(([, path = '']) => ({ page, path }))
    })
    expect(named.length).toBeGreaterThan(100)
    expect(named.filter(({ path }) => !patterns.some(pattern => pattern.test(path)))).toEqual([])
  })

  it('list every REST operation; npm run update writes them', () => {
    expectTable(
      'docs/integrate.md',
      'interface',
      tableOf(['area', 'REST', 'what it does'], interfaceRows()),
    )
  })

  it('list every GraphQL root field; npm run update writes them', () => {
    expectTable('docs/graphql.md', 'graph', tableOf(['to', 'GraphQL', 'what it does'], graphRows()))
  })

  it('contain examples for a configuration with nothing embedded', () => {
    const lines = blocksOf('docs/operate.md', '# Operating Satchel').flatMap(({ text }) => [
      ...text.matchAll(/^([A-Z][A-Z_]+)=(.*)$/gm),
    ])
    const settings = Object.fromEntries(
      lines.map(([, name = '', value = '']) => [name, value.replaceAll("'", '')]),
    )
    expect(readConfig(settings)).toMatchObject({
      database: { dialect: 'mysql' },
      azure: expect.objectContaining({ connectionString: expect.stringContaining('AccountKey=') }),
      redisUrl: expect.stringMatching(/^redis:/),
      smtpUrl: expect.stringMatching(/^smtp:/),
      providers: [{ name: 'sso' }],
    })
    const known = settingRows().map(({ name }) => name)
    const named = Object.keys(settings).map(name => name.replace(/^OAUTH_SSO_/, 'OAUTH_<NAME>_'))
    expect(known).toEqual(expect.arrayContaining(named))
  })

  const source = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

  it('walk through an operation that exists where docs/develop.md places it', () => {
    const [, walk = ''] =
      /like `endSession`:\n\n([\s\S]*?)\n\nand `npm run update`/.exec(source('docs/develop.md')) ??
      []
    const files = [...walk.matchAll(/`((?:src|schema|test)\/[\w./-]+\.ts)`/g)].map(
      ([, file]) => file,
    )
    expect(files).toHaveLength(5)
    for (const file of files) expect(source(String(file))).toMatch(/\bendSession\b|\bendOne\(/)
  })
})
