import { isNativeError } from 'node:util/types'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { Config } from './config.ts'

export type Log = Logger

/** What could be a token, wherever it stands: they have 43 characters or more, ids have 36 and checksums 32. */
const tokens = /[\w-]{40,}/g

/** A caller chooses what a path holds, and how long it is. */
const LONGEST_PATH = 256

/** Query strings carry signatures and cursors, and some paths carry tokens: what may be logged of an address is its path, with tokens cut. */
export function loggablePath(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  const shown = path
    .replace(/^(\/api\/(?:d\/private|d|blobs|share\/(?:info|resolve|revoke))\/|\/(?:share|invite)\/)[^/]+/, '$1:token')
    .replace(/^\/sign-in\/.*/, '/sign-in/...')
    // A token in a path may be spelled with escapes.
    .replace(/[\w%-]{40,}/g, ':token')
    // Part by part: one pattern for it would take the square of the length of a part without an address.
    .split('/')
    .map(part => (/@|%40/i.test(part) ? ':address' : part))
    .join('/')
  return shown.length > LONGEST_PATH ? `${shown.slice(0, LONGEST_PATH)}...` : shown
}

/** What an error may say in the log: no values of statements, no addresses with signatures. */
function loggableError(error: unknown): unknown {
  // Errors of Node's core are of another realm in a sandbox, and those of old libraries are not native.
  if (!isNativeError(error) && !(error instanceof Error)) return { message: redact(String(error)).slice(0, 500) }
  const code = 'code' in error ? error.code : undefined
  const inner =
    error.cause ??
    ('originalError' in error ? error.originalError : undefined) ??
    ('parent' in error ? error.parent : undefined)
  return {
    type: error.name,
    message: redact(error.message),
    ...(code === undefined ? {} : { code }),
    stack: redact(error.stack ?? ''),
    ...(inner && inner !== error ? { cause: loggableError(inner) } : {}),
  }
}

const redact = (text: string) =>
  text
    .replace(/https?:\/\/\S+\?\S*/g, url => `${url.split('?', 1)[0]}?...`)
    .replace(/(\w*(?:code|password|secret|sig|state|token|verifier)=)[^&\s]+/gi, '$1...')
    .replace(/[^\s@"'<>=:,(]+@[^\s@"'<>,)]+/g, '...@...')
    .replace(tokens, '...')
    .slice(0, 4000)

/** One JSON object a line, on standard output unless told otherwise. */
export function createLog(config: Pick<Config, 'logLevel'>, stream: DestinationStream = pino.destination(1)): Log {
  const options: LoggerOptions = {
    level: config.logLevel,
    serializers: { err: loggableError },
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['*.password', '*.token', '*.cookie', '*.authorization', '*.email'], censor: '...' },
  }
  return pino(options, stream)
}

/** Where the log of this process goes, for people on a terminal and for machines elsewhere. The formatter is loaded only where it is used. */
export async function logStream({ logFormat }: Pick<Config, 'logFormat'>): Promise<DestinationStream> {
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stdout.isTTY)) return pino.destination(1)
  const { default: pretty } = await import('pino-pretty')
  return pretty({
    sync: true,
    colorize: process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid',
    singleLine: true,
  })
}

/** Tells of an outage when it begins, and when it is over; what tries again and again in between is no news. */
export function tellOutage(log: Log, what: string) {
  let lasts = false
  return {
    begins(error: unknown): void {
      if (!lasts) log.warn({ err: error }, what)
      lasts = true
    },
    ends(): void {
      if (lasts) log.info(`over: ${what}`)
      lasts = false
    },
  }
}
