import { createInterface } from 'node:readline'
import { Failure, toFailure } from '../failure.ts'
import type { Context } from '../run.ts'
import { open } from '../service.ts'
import { send } from '../wire.ts'

export interface McpOptions {
  scope?: string[]
}

interface Message {
  id?: string | number | null
  method?: string
  result?: { protocolVersion?: string }
}

/** How long the service may take to respond to a call. */
const CALL_MS = 120_000

function parse(line: string): Message | undefined {
  try {
    const message = JSON.parse(line)
    return typeof message === 'object' && message !== null ? message : undefined
  } catch {
    return undefined
  }
}

/**
 * Connects a program that speaks MCP over standard input and output to the service: each line is
 * sent as one request. Ends with the input, after all responses.
 *
 * @throws NOT_SIGNED_IN
 */
export async function mcp(context: Context, { scope = ['read'] }: McpOptions): Promise<undefined> {
  const { url, login, patience } = await open(context)
  if (login.personal?.kind !== 'key')
    throw new Failure('NOT_SIGNED_IN', `You have no key for ${url}. Run satchel login ${url}.`)
  const key = login.personal.secret
  const scopes = new URLSearchParams({ scope: scope.map(one => `private_files:${one}`).join(' ') })
  let version: string | undefined

  async function exchange(line: string): Promise<string | undefined> {
    const { id } = parse(line) ?? {}
    try {
      const response = await send(`${url}/mcp?${scopes}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
        },
        body: line,
        signal: patience.signal,
        limitMs: CALL_MS,
      })
      const text = await response.text()
      if (id === undefined) return undefined
      const answer = parse(text)
      if (!answer) throw new Failure('BAD_ANSWER', `${new URL(url).host} does not speak MCP.`)
      version ??= answer.result?.protocolVersion
      // A refusal of the door names no request.
      return JSON.stringify({ ...answer, id: answer.id ?? id })
    } catch (error) {
      if (patience.signal.aborted) throw error
      const { code, message } = toFailure(error)
      const refusal = { code: -32000, message, data: { code } }
      return id === undefined ? undefined : JSON.stringify({ jsonrpc: '2.0', id, error: refusal })
    }
  }

  const running = new Set<Promise<void>>()
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line.trim() === '') continue
    const work = exchange(line)
      .then(answer => void (answer === undefined || process.stdout.write(`${answer}\n`)))
      .finally(() => running.delete(work))
    running.add(work)
    // The version of the protocol is agreed on before anything else.
    if (version === undefined) await work
  }
  await Promise.all(running)
}
