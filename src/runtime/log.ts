import { isNativeError } from 'node:util/types'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { Config } from '../config/config.ts'

export type Log = Logger

/** Text that may be a token: tokens have 43 characters or more, ids 36 and checksums 32. */
const tokens = /[\w-]{40,}/g

/** Callers choose the content and the length of a path. */
const LONGEST_PATH = 256
/** Characters of a message or a stack, and of a thrown value that is not an error. */
const MAX_TEXT = 4000
const MAX_THROWN = 500

/**
 * Paths whose ends are names of files and folders, and their beginnings: WebDAV, and the screens of
 * the console.
 */
const namesOfFiles =
  /^(\/+dav(?:\/+(?:files|shared|workspaces(?:\/+[^/]+)?))?|\/+(?:files|shared)|\/+workspaces\/+[^/]+\/+files)\/+[^/].*$/i

/**
 * The loggable part of a URL: its path with tokens cut, because query strings carry signatures and
 * cursors, and some paths carry tokens.
 */
export function loggablePath(url: string): string {
  const mark = url.indexOf('?')
  const path = (mark < 0 ? url : url.slice(0, mark))
    .replace(
      /^(\/api\/(?:d\/private|d|blobs|share\/(?:info|resolve|revoke))\/|\/(?:share|invite)\/)[^/]+/,
      '$1:token',
    )
    .replace(/^\/sign-in\/.*/, '/sign-in/...')
    .replace(namesOfFiles, '$1/...')
  // Nothing in it can be a token or an e-mail address: that is most paths, and each pattern costs
  // every request.
  if (path.length < 40 && !/[@%]/.test(path)) return path
  const shown = path
    // A token in a path may be spelled with escapes.
    .replace(/[\w%-]{40,}/g, ':token')
    // Segment by segment: a single pattern would need quadratic time for a segment without an
    // e-mail address.
    .split('/')
    .map(part => (/@|%40/i.test(part) ? ':address' : part))
    .join('/')
  return shown.length > LONGEST_PATH ? `${shown.slice(0, LONGEST_PATH)}...` : shown
}

/**
 * The loggable part of an error: no values of SQL statements, no signed URLs, no e-mail addresses.
 */
function loggableError(error: unknown): unknown {
  // Errors of Node's core are of another realm in a sandbox, and those of old libraries are not
  // native.
  if (!isNativeError(error) && !(error instanceof Error))
    return { message: redact(String(error)).slice(0, MAX_THROWN) }
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

/** A text without secrets, signed URLs and e-mail addresses. */
export const redact = (text: string) =>
  text
    .replace(/https?:\/\/\S+\?\S*/g, url => `${url.split('?', 1)[0]}?...`)
    .replace(/(\w*(?:code|password|secret|sig|state|token|verifier)=)[^&\s]+/gi, '$1...')
    .replace(/[^\s@"'<>=:,(]+@[^\s@"'<>,)]+/g, '...@...')
    .replace(tokens, '...')
    .slice(0, MAX_TEXT)

/** One JSON object per line, on standard output by default. */
export function createLog(
  config: Pick<Config, 'logLevel'>,
  stream: DestinationStream = pino.destination(1),
): Log {
  const options: LoggerOptions = {
    level: config.logLevel,
    serializers: { err: loggableError },
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['*.password', '*.token', '*.cookie', '*.authorization', '*.email'],
      censor: '...',
    },
  }
  return pino(options, stream)
}

/**
 * The stream for the log of this process: readable on a terminal, JSON otherwise. The formatter is
 * loaded only when it is used.
 */
export async function logStream({
  logFormat,
}: Pick<Config, 'logFormat'>): Promise<DestinationStream> {
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stdout.isTTY))
    return pino.destination(1)
  const { default: pretty } = await import('pino-pretty')
  return pretty({
    sync: true,
    colorize: process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid',
    singleLine: true,
  })
}

/**
 * Logs the begin and the end of an outage, each once and in words of its own: an alert on the words
 * of the outage must not fire when it ends. Failures in between are not logged.
 */
export function outageLog(log: Log, messages: { down: string; up: string }) {
  let down = false
  return {
    begins(error: unknown): void {
      if (!down) log.warn({ err: error }, messages.down)
      down = true
    },
    ends(): void {
      if (down) log.info(messages.up)
      down = false
    },
  }
}
