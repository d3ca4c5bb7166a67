import type { Person, RestAnswer } from '../support/harness.ts'
import type { ContractOperation } from './contract.ts'

/** The inputs of a call by their names on the wire. A File is sent in a form. */
export type Inputs = Record<string, unknown>

/** Calls an operation of the contract by REST, with each input in its documented place. */
export function callByRest(
  person: Person,
  { method, path, in: sources = {} }: Pick<ContractOperation, 'method' | 'path' | 'in'>,
  inputs: Inputs,
): Promise<RestAnswer> {
  const given = (names: string[] = []): [string, unknown][] =>
    names
      .map(n => n.replace(/\?$/, ''))
      .flatMap(n => (inputs[n] === undefined ? [] : [[n, inputs[n]]]))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String(inputs[name])),
  )
  const query = new URLSearchParams(
    given(sources.query).map(([name, value]) => [name, String(value)]),
  )
  const url = query.size > 0 ? `${filled}?${query}` : filled
  const { sender } = inputs
  const headers: Record<string, string> =
    typeof sender === 'string' ? { 'x-sender-token': sender } : {}
  if (sources.form) {
    const form = new FormData()
    for (const [name, value] of given(sources.form))
      form.append(name, value instanceof File ? value : String(value))
    return person.rest(method, url, { form })
  }
  const file = Object.values(inputs).find(value => value instanceof File)
  if (sources.raw && file) return person.rest(method, url, { body: file.stream(), headers })
  return person.rest(method, url, {
    headers,
    ...(sources.body ? { json: Object.fromEntries(given(sources.body)) } : {}),
  })
}
