import { readFileSync } from 'node:fs'
import { z } from 'zod'

const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const names = z.array(z.string()).optional()
/** `raw` is a body that is not parsed. */
const inputs = z
  .strictObject({ path: names, query: names, body: names, form: names, raw: names })
  .optional()

const operation = z.strictObject({
  method,
  path: z.string().startsWith('/api/'),
  /** `Query.x` or `Mutation.x`. */
  field: z.string(),
  table: z.enum(['A', 'B']),
  /** The permitted callers: public, signed-in, session, or a role. */
  access: z.string(),
  /** The scope that an API key needs. Null if no key is allowed, or if none is needed. */
  scope: z.string().nullable(),
  /** Includes the 200 or 302 of a success. */
  statuses: z.array(z.number()),
  in: inputs,
  rateLimit: z.string().optional(),
})

export type ContractOperation = z.infer<typeof operation>

const addition = operation.omit({ table: true, rateLimit: true }).extend({
  path: z.string().regex(/^\/(api|auth)\//),
  /** The sign-in operations are not fields. */
  field: z.string().optional(),
  section: z.number(),
})

export type ContractAddition = z.infer<typeof addition>

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'))

/** The operations of the contract, sections 3 and 4, as data. */
export const operations: ContractOperation[] = z.array(operation).parse(read('./operations.json'))

/** The additions in the contract: second methods, sign-in, and section 8. */
export const additions: ContractAddition[] = z.array(addition).parse(read('./additions.json'))

export interface ContractInput {
  name: string
  source: string
  required: boolean
}

/** The inputs of an operation, sorted by name. Headers are not part of the contract's data. */
export function inputsOf({ in: sources = {} }: Pick<ContractOperation, 'in'>): ContractInput[] {
  return Object.entries(sources)
    .flatMap(([source, list = []]) =>
      list.map(text => ({ name: text.replace(/\?$/, ''), source, required: !text.endsWith('?') })),
    )
    .sort((a, b) => a.name.localeCompare(b.name))
}

export const titleOf = ({ method, path }: { method: string; path: string }): string =>
  `${method} ${path}`
