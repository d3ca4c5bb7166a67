import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import {
  buildASTSchema,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql'
import { graphForCache, graphTypes } from '../../src/console/build/graph-types.ts'
import { shapesOf } from '../../src/console/build/icons.ts'
import { strictSchema } from '../../src/console/build/strict-schema.ts'
import { readSchema } from '../../src/console/graphql/brief-schema.ts'
import * as limitsOfForms from '../../src/console/parts/limits.ts'
import { consolePaths } from '../../src/pages/console.ts'
import * as limits from '../../src/values/limits.ts'
import { limits as limitsOfPaths } from '../../src/values/paths.ts'
import { sources } from '../browser/console-sources.ts'

const root = 'src/console'
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
const read = (file: string) => readFileSync(join(root, file), 'utf8')

it('has up-to-date types of the schema', () => {
  const file = join(root, 'graphql/graph-types.d.ts')
  if (process.env.UPDATE) writeFileSync(file, graphTypes())
  // npm run update writes it.
  expect(readFileSync(file, 'utf8')).toBe(graphTypes())
})

// Stylesheets are loaded with their components and stay loaded. A second rule for the same class
// would change other components, depending on the order of visits.
it('defines each class in one stylesheet', () => {
  const sheets = files.filter(file => file.endsWith('.css'))
  const defined = sheets.flatMap(file => {
    const rules = read(file).match(/^(?:\.[\w-]+,\n)*\.[\w-]+ \{/gm) ?? []
    return [...new Set(rules.flatMap(rule => rule.match(/\.[\w-]+/g) ?? []))]
  })
  expect(defined.length).toBeGreaterThan(100)
  expect(defined.filter((name, i) => defined.indexOf(name) !== i)).toEqual([])
})

it('uses the limits of the service in its forms', () => {
  expect({ ...limits, MAX_NAME: limitsOfPaths.nameBytes }).toMatchObject({ ...limitsOfForms })
})

it('gives its cache the types and their nullable fields', () => {
  interface Shape {
    kind: string
    ofType?: Shape
  }
  interface Shown {
    name: string
    kind: string
    interfaces?: { name: string }[]
    possibleTypes?: { name: string }[]
    fields?: { name: string; type: Shape }[]
  }
  const shown = (readSchema(JSON.parse(graphForCache())).__schema as unknown as { types: Shown[] })
    .types
  const names = (all: readonly { name: string }[] = []) => all.map(({ name }) => name)
  const all = Object.values(buildASTSchema(strictSchema()).getTypeMap())
  const types = all.filter(type => isObjectType(type) || isInterfaceType(type) || isUnionType(type))
  // The console reads lists through nodes, except for search results, which have edges.
  const own = types.filter(
    ({ name }) => !name.startsWith('__') && (!name.endsWith('Edge') || name === 'SearchResultEdge'),
  )
  expect(names(shown).sort()).toEqual(names(own).sort())
  for (const type of own) {
    const told = shown.find(({ name }) => name === type.name)
    if (isUnionType(type)) {
      expect([told?.kind, names(told?.possibleTypes)]).toEqual(['UNION', names(type.getTypes())])
      continue
    }
    expect([told?.kind, names(told?.interfaces)]).toEqual([
      isObjectType(type) ? 'OBJECT' : 'INTERFACE',
      names(type.getInterfaces()),
    ])
    const fields = Object.values(type.getFields())
      .map(({ name, type }) => {
        const inner = isNonNullType(type) ? type.ofType : type
        return [name, inner === type, isListType(inner) && !isNonNullType(inner.ofType)]
      })
      .filter(([, isNullable, hasNulls]) => isNullable || hasNulls)
    const read = told?.fields?.map(({ name, type }) => {
      const inner = type.kind === 'NON_NULL' ? type.ofType : type
      return [name, inner === type, inner?.kind === 'LIST' && inner.ofType?.kind !== 'NON_NULL']
    })
    expect([type.name, read]).toEqual([type.name, fields])
  }
})

it('is rebuilt for the browser tests when any of its sources has changed', () => {
  const imported = files
    .filter(file => /\.(tsx?|css)$/.test(file) && !file.endsWith('.d.ts'))
    .flatMap(file => {
      const paths = read(file).matchAll(/(?:from |import\(|@import |new URL\()['"](\.[^'"]+)['"]/g)
      return [...paths].map(([, path = '']) => join(root, dirname(file), path))
    })
  const isWatched = (file: string) =>
    sources.some(source => file === source || file.startsWith(`${source}/`))
  expect(imported.length).toBeGreaterThan(100)
  expect([...new Set(imported.filter(file => !isWatched(file)))]).toEqual([])
})

it('is served at the path of each screen, and at no other path', () => {
  const screens = files
    .filter(file => file.endsWith('route.ts'))
    .flatMap(file =>
      [...read(file).matchAll(/\bpath: '([^']+)'/g)].flatMap(([, path]) => path ?? []),
    )
    .filter(path => path !== '/')
  expect(screens.length).toBeGreaterThan(15)
  const served = (path: string, by: string) =>
    by.endsWith('/*') ? path.startsWith(by.slice(0, -1)) : path === by
  expect(screens.filter(path => !consolePaths.some(by => served(path, by)))).toEqual([])
  const roots = consolePaths.filter(path => !path.endsWith('/*'))
  expect(roots.filter(path => !screens.includes(path))).toEqual([])
})

describe('The icons', () => {
  const names = [...read('parts/icons.ts').matchAll(/'virtual:lucide\/([^']+)'/g)].map(
    ([, name = '']) => name,
  )

  it('are drawn from the data of Lucide, with any SVG element', () => {
    const [circle, path] = shapesOf('info')
    expect(circle).toEqual(['circle', { cx: '12', cy: '12', r: '10' }])
    expect(path).toEqual(['path', { d: expect.stringMatching(/^M[\w .-]+$/) }])
  })

  it.each(names)('%s: is drawn in the colour of the text beside it', name => {
    const attributes = shapesOf(name).flatMap(([, attributes]) => Object.entries(attributes))
    expect(attributes.length).toBeGreaterThan(0)
    const shape = /^([dxyr]|[cr][xy]|[xy][12]|width|height|points)$/
    expect(
      attributes.filter(([key, value]) => !shape.test(key) && value !== 'currentColor'),
    ).toEqual([])
  })

  it('fail the build if Lucide does not know their name', () => {
    expect(() => shapesOf('no-such-icon')).toThrow('Lucide has no icon no-such-icon')
  })

  it('exist for every rule of a stylesheet', () => {
    const styles = files.filter(file => file.endsWith('.css')).map(read)
    const named = styles.flatMap(css =>
      [...css.matchAll(/\.lucide-([a-z0-9-]+)/g)].map(([, name = '']) => name),
    )
    expect(named).toContain('chevron-right')
    expect(named.filter(name => !names.includes(name))).toEqual([])
  })
})
