import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

/** A connected assistant. */
export interface Assistant {
  client: Client
  /** The names of the tools that it may call. */
  tools(): Promise<string[]>
  /** Calls a tool. @returns the structured result. Throws the error that the tool reported. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  call(name: string, given?: Record<string, unknown>): Promise<any>
  /** Calls a tool. @returns the whole result */
  result(name: string, given?: Record<string, unknown>): Promise<CallToolResult>
}

/** An error that a tool reported. */
export class ToolError extends Error {
  readonly code: string

  constructor({ code, message }: { code: string; message: string }) {
    super(`${code}: ${message}`)
    this.code = code
  }
}

/** Connects the client of the SDK with a bearer token. */
export async function assistant(
  url: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<Assistant> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
    }),
  )
  return assistantOf(client)
}

export async function assistantOf(client: Client): Promise<Assistant> {
  // The client checks structured results against the schemas of this list.
  await client.listTools()
  const result: Assistant['result'] = async (name, given = {}) =>
    (await client.callTool({ name, arguments: given })) as CallToolResult
  return {
    client,
    result,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, given) {
      const { isError, structuredContent, content } = await result(name, given)
      const [first] = content
      if (isError && first?.type === 'text') throw new ToolError(JSON.parse(first.text))
      return structuredContent
    },
  }
}

/** Sends a raw request to the door. */
export async function rpc(
  url: string,
  token: string | null,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    said: (text === '' ? null : JSON.parse(text)) as any,
  }
}
