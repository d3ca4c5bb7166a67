import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Route } from '../../src/rest/routes.ts'

const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const names = z.array(z.string()).optional()

const operation = z.strictObject({
  method,
  path: z.string().startsWith('/api/'),
  /** `Query.x` or `Mutation.x`. */
  field: z.string(),
  table: z.enum(['A', 'B']),
  /** Who may: public, signed-in, session, or a role. */
  access: z.string(),
  /** What an API key needs; null where no key can do it, or where none is needed. */
  scope: z.string().nullable(),
  /** With the 200 or 302 of a success. */
  statuses: z.array(z.number()),
  in: z.strictObject({ path: names, query: names, body: names, form: names }).optional(),
  rateLimit: z.string().optional(),
})

export type ContractOperation = z.infer<typeof operation>

/** The operations of the contract, sections 3 and 4, as data. */
export const operations: ContractOperation[] = z
  .array(operation)
  .parse(JSON.parse(readFileSync(new URL('./operations.json', import.meta.url), 'utf8')))

export interface ContractInput {
  name: string
  source: string
  required: boolean
}

/** What an operation takes, sorted by name. Headers are not part of the contract's data. */
export function inputsOf({ in: sources = {} }: ContractOperation): ContractInput[] {
  return Object.entries(sources)
    .flatMap(([source, list = []]) =>
      list.map(text => ({ name: text.replace(/\?$/, ''), source, required: !text.endsWith('?') })),
    )
    .sort((a, b) => a.name.localeCompare(b.name))
}

export const titleOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`

/** The operations of the contract that no route of the schema serves yet. */
export function missingOperations(routes: Pick<Route, 'method' | 'also' | 'path'>[]): ContractOperation[] {
  const served = new Set(
    routes.flatMap(({ path, ...r }) => [r.method, ...(r.also ? [r.also] : [])].map(m => titleOf({ method: m, path }))),
  )
  return operations.filter(o => !served.has(titleOf(o)))
}
