import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  GraphQLNonNull,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  type ValueNode,
  validateSchema,
  valueFromASTUntyped,
} from 'graphql'
import { schema } from '../../schema/index.ts'
import { printed } from '../../schema/print.ts'
import { naturalStatus } from '../../src/runtime/errors.ts'

const file = new URL('../../schema/schema.graphql', import.meta.url)

interface Place {
  /** `Type.field` or `Type.field.argument`. */
  path: string
  type: GraphQLType
  description: string | null | undefined
}

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))
const withFields = types.filter(type => isObjectType(type) || isInterfaceType(type))
const inputs = types.filter(isInputObjectType)

const placeOf =
  (parent: string) =>
  ({
    name,
    type,
    description,
  }: GraphQLArgument | GraphQLInputField | GraphQLField<unknown, unknown>): Place => ({
    path: `${parent}.${name}`,
    type,
    description,
  })
const fields = withFields.flatMap(type =>
  Object.values(type.getFields()).map(field => ({
    ...placeOf(type.name)(field),
    args: field.args,
  })),
)
const given = [
  ...fields.flatMap(({ path, args }) => args.map(placeOf(path))),
  ...inputs.flatMap(type => Object.values(type.getFields()).map(placeOf(type.name))),
]
const mutations = Object.values(schema.getMutationType()?.getFields() ?? {})
const last = (path: string) => path.split('.').at(-1) ?? ''
const pathsOf = (places: Place[]) => places.map(({ path }) => path)

/** Whether a list may contain nulls. */
const holdsNulls = (type: GraphQLType): boolean => {
  const list = isNonNullType(type) ? type.ofType : type
  return isListType(list) && !isNonNullType(list.ofType)
}

describe('schema/schema.graphql', () => {
  it('matches the code; when it differs, run: npm run schema', () => {
    expect(readFileSync(file, 'utf8')).toBe(printed)
  })
})

// docs/decisions/graph.md explains these rules.
describe('The schema', () => {
  it('is valid', () => {
    expect(validateSchema(schema)).toEqual([])
  })

  it('describes every type, field and argument', () => {
    const undescribed = [...types.filter(({ description }) => !description).map(({ name }) => name)]
    // The Relay specification describes its own types.
    expect(
      undescribed.filter(
        name => !['Boolean', 'Float', 'ID', 'Int', 'PageInfo', 'String'].includes(name),
      ),
    ).toEqual([])
    const bare = [...fields, ...given].filter(({ description }) => !description)
    expect(pathsOf(bare).filter(path => !/^(PageInfo|\w+Connection|\w+Edge)\./.test(path))).toEqual(
      [],
    )
  })

  it('names types, fields and values as GraphQL does', () => {
    expect(types.map(({ name }) => name).filter(name => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual(
      [],
    )
    expect(
      pathsOf([...fields, ...given]).filter(path => !/^[a-z][A-Za-z0-9]*$/.test(last(path))),
    ).toEqual([])
    const values = types
      .filter(isEnumType)
      .flatMap(type => type.getValues().map(({ name }) => name))
    expect(values.filter(name => !/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(name))).toEqual([])
  })

  it('describes every value of every enum, and so every error code', () => {
    const values = types
      .filter(isEnumType)
      .flatMap(type => type.getValues().map(value => ({ ...value, of: type.name })))
    expect(values.length).toBeGreaterThan(400)
    expect(values.filter(({ description }) => !/\.$/.test(description ?? ''))).toEqual([])
    const codes = values.filter(({ of }) => of === 'ErrorCode').map(({ name }) => name)
    expect(codes.sort()).toEqual(Object.keys(naturalStatus).sort())
  })

  it('shows the error codes of each mutation to programs', () => {
    const shown = Object.values(buildSchema(printed).getMutationType()?.getFields() ?? {})
    const codesOf = new Map(
      shown.map(({ name, astNode }) => {
        const fails = astNode?.directives?.find(directive => directive.name.value === 'fails')
        return [name, fails && valueFromASTUntyped(fails.arguments?.[0]?.value as ValueNode)]
      }),
    )
    expect(codesOf.get('createFolder')).toContain('PATH_EXISTS')
    for (const { name, extensions } of mutations)
      expect([name, codesOf.get(name) ?? []]).toEqual([name, extensions.fails])
  })

  it('has one form of mutations: one input, and a nullable payload', () => {
    expect(mutations.length).toBeGreaterThan(30)
    for (const { name, args, type, description, extensions } of mutations) {
      const of = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
      expect(args.map(arg => `${arg.name}: ${arg.type}`)).toEqual(
        args.length > 0 ? [`input: ${of}Input!`] : [],
      )
      expect(String(type)).toBe(`${of}Payload`)
      const { fails = [] } = extensions
      expect(description).toMatch(
        fails.length > 0 ? new RegExp(` Fails with ${fails.join(', ')}\\.$`) : /\.$/,
      )
    }
  })

  it('has nullable root fields, and names those that are null only with an error', () => {
    const roots = fields.filter(({ path }) => /^(Query|Mutation)\./.test(path))
    expect(roots.length).toBeGreaterThan(80)
    expect(pathsOf(roots.filter(({ type }) => isNonNullType(type)))).toEqual([])
    const nullable = [...Object.values(schema.getQueryType()?.getFields() ?? {}), ...mutations]
      .filter(({ extensions }) => !extensions.directives?.semanticNonNull)
      .map(({ name }) => name)
    expect(nullable).toEqual(['maintenance', 'node'])
    // The printed schema shows the directive to the tools of clients.
    const shown = buildSchema(printed).getQueryType()?.getFields() ?? {}
    const directives = Object.values(shown).map(({ name, astNode }) => [
      name,
      astNode?.directives?.map(({ name }) => name.value),
    ])
    expect(directives).toContainEqual(['me', ['semanticNonNull']])
    expect(directives).toContainEqual(['node', []])
  })

  it('has one form of paged lists', () => {
    const connections = withFields.filter(({ name }) => name.endsWith('Connection'))
    // A search also returns how it was interpreted.
    const more = new Map([['SearchResultConnection', ['hints', 'isComplete']]])
    for (const type of connections)
      expect(Object.keys(type.getFields()).sort()).toEqual(
        ['edges', 'nodes', 'pageInfo', ...(more.get(type.name) ?? [])].sort(),
      )
    const paged = fields.filter(({ type }) => getNamedType(type).name.endsWith('Connection'))
    expect(paged.length).toBeGreaterThan(connections.length)
    for (const { path, args } of paged)
      expect([path, ...args.map(({ name }) => name)]).toEqual(
        expect.arrayContaining(['first', 'after']),
      )
    expect(
      pathsOf(given).filter(path => ['last', 'before', 'limit', 'offset'].includes(last(path))),
    ).toEqual([])
  })

  it('has no null in lists, except for ids that are not found', () => {
    expect(pathsOf([...fields, ...given].filter(({ type }) => holdsNulls(type)))).toEqual([
      'Query.nodes',
    ])
  })

  it('gives an id only to nodes, so that each id has one type', () => {
    const ids = fields.filter(({ path }) => last(path) === 'id')
    expect(ids.filter(({ type }) => String(type) !== 'ID!')).toEqual([])
    const node = schema.getType('Node')
    const others = withFields.filter(
      type =>
        'id' in type.getFields() &&
        type !== node &&
        !type.getInterfaces().some(({ name }) => name === 'Node'),
    )
    // Entries of the audit trail are read only as a list, because reading is recorded. Locks last
    // an hour, and are read with their entries. Grants are read only as a list, for the same reason
    // as the trail. Plans are few, and are identified by name.
    expect(others.map(({ name }) => name)).toEqual(['AuditRecord', 'DavLock', 'Grant', 'Plan'])
  })

  it('names times with At, and references objects by type', () => {
    const times = fields.filter(({ type }) => getNamedType(type).name === 'DateTime')
    expect(pathsOf(times).filter(path => !path.endsWith('At'))).toEqual([])
    // A field that refers to an existing object is an edge to it. Ids stand for objects that are
    // gone or hidden from the caller.
    const ids = fields.filter(
      ({ path, type }) => getNamedType(type).name === 'ID' && last(path) !== 'id',
    )
    const gone = /Payload\.(deleted|revoked|removed|ended|aborted|completed|accepted|rejected)Ids?$/
    expect(pathsOf(ids).filter(path => !gone.test(path))).toEqual([
      'AccountWorkspace.workspaceId',
      // The objects may be gone.
      'AuditRecord.actorId',
      'AuditRecord.credentialId',
      'AuditRecord.subjectId',
      'DeleteAccountPayload.driveId',
      // The objects may be gone.
      'Event.apiKeyId',
      'Event.subjectId',
      'EventDetails.workspaceId',
      // An operator is not a member, and must not see the workspace as members do.
      'Grant.workspaceId',
      // An invited user cannot see the workspace yet.
      'Invite.workspaceId',
      // A key without the read scope cannot see the share.
      'MarkShareSeenPayload.seenId',
      // An operator is not a member, and must not see the workspace as members do.
      'OperatorSetWorkspaceLimitsPayload.workspaceId',
      // The event may be purged, or the delivery may be a ping.
      'WebhookDelivery.eventId',
      'WorkspaceUse.workspaceId',
    ])
  })

  it('expresses alternatives by @oneOf', () => {
    for (const type of inputs.filter(({ name }) => name.endsWith('Ref'))) {
      expect(type.isOneOf).toBe(true)
      expect(
        Object.values(type.getFields()).filter(field => field.type instanceof GraphQLNonNull),
      ).toEqual([])
    }
  })
})
