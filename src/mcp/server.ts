import { randomUUID } from 'node:crypto'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import packageJson from '#package.json' with { type: 'json' }
import type { Context } from '../../schema/context.ts'
import { reachesAnyDrive } from '../access/drive.ts'
import { type AppError, InvalidInput, toAppError } from '../runtime/errors.ts'
import type { Call, Outcome, Tool } from './tool.ts'
import { NOTICE } from './tool.ts'
import { tools } from './tools.ts'

const INSTRUCTIONS = [
  "Satchel keeps a person's files. Search first, then read what fits.",
  NOTICE,
  'Change, delete or share something only if the person has asked for it.',
].join(' ')

/** The tools that the caller's key or grant allows. */
const toolsFor = ({ caller }: Call): Tool[] =>
  tools.filter(({ level }) => reachesAnyDrive(caller, level))

/** @throws INVALID_INPUT, MAINTENANCE, and the errors of the tool */
async function run(call: Call, tool: Tool, given: unknown): Promise<Outcome> {
  if (tool.writes) call.context.services.maintenance.requireWritable()
  const read = tool.input.safeParse(given ?? {})
  if (!read.success) {
    const [issue] = read.error.issues
    const field = issue?.path.join('.') || 'arguments'
    throw new InvalidInput(field, `${field}: ${issue?.message ?? 'is wrong'}.`)
  }
  return tool.run(call, read.data)
}

/** Text of a file, between marks that the file cannot forge. */
function marked(text: string): string {
  const mark = `file-content-${randomUUID()}`
  return `${NOTICE} The content is between the marks ${mark}.\n<${mark}>\n${text}\n</${mark}>`
}

function resultOf({ value, text, image }: Outcome): CallToolResult {
  // The text follows between its marks.
  const about = text === undefined ? value : { ...value, text: undefined }
  return {
    structuredContent: { ...value },
    content: [
      { type: 'text', text: JSON.stringify(about) },
      ...(text === undefined ? [] : [{ type: 'text' as const, text: marked(text) }]),
      ...(image ? [{ type: 'image' as const, ...image }] : []),
    ],
  }
}

const failed = ({ code, message, details }: AppError): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ code, message, ...details }) }],
})

/** Counts an error, and logs an unexpected one. @returns the error that the caller may see */
function noted({ context }: Call, tool: string, thrown: unknown): AppError {
  const { error, unexpected } = toAppError(thrown)
  context.noteError(thrown)
  if (unexpected) context.log.error({ err: thrown, tool }, 'a tool of assistants failed')
  return error
}

async function callTool(call: Call, name: string, given: unknown): Promise<CallToolResult> {
  const tool = toolsFor(call).find(one => one.name === name)
  if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`)
  const { caller } = call
  const { assistantCalls, rateLimits } = call.context.services
  try {
    await rateLimits.hit('assistants', caller.userId, {})
  } catch (thrown) {
    // Not recorded: otherwise an assistant could fill the trail at any rate.
    return failed(noted(call, name, thrown))
  }
  let outcome: Outcome | undefined
  let refused: AppError | undefined
  try {
    outcome = await run(call, tool, given)
  } catch (thrown) {
    refused = noted(call, name, thrown)
  }
  // The trail is written before the result is sent. Without it, nothing of the result is sent.
  try {
    await assistantCalls.record(caller, {
      tool: name,
      entryId: outcome?.entryId ?? null,
      code: refused?.code,
    })
  } catch (thrown) {
    return failed(noted(call, name, thrown))
  }
  return outcome ? resultOf(outcome) : failed(refused as AppError)
}

/**
 * Responds to one JSON-RPC message. Nothing is kept between requests: each has its own server.
 * @param message a JSON object
 */
export async function respond(
  context: Context & { caller: Call['caller'] },
  request: { url: string; headers: Headers },
  message: object,
): Promise<Response> {
  const call: Call = { context, caller: context.caller }
  const server = new Server(
    { name: 'satchel', title: 'Satchel', version: packageJson.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: toolsFor(call).map(
      ({ name, title, description, inputSchema, outputSchema, annotations }) => ({
        name,
        title,
        description,
        inputSchema: inputSchema as { type: 'object' },
        outputSchema: outputSchema as { type: 'object' },
        annotations: { title, ...annotations },
      }),
    ),
  }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    callTool(call, params.name, params.arguments),
  )
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    const { url, headers } = request
    return await transport.handleRequest(new Request(url, { method: 'POST', headers }), {
      parsedBody: message,
    })
  } finally {
    await server.close()
  }
}
