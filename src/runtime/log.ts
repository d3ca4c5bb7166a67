import { isNativeError } from 'node:util/types'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { Config } from '../config/config.ts'

export type Log = Logger

/** Text that may be a token. Tokens have at least 43 characters, ids 36 and checksums 32. */
const tokens = /[\w-]{40,}/g

/** The maximum length of a logged path, because callers choose paths. */
const LONGEST_PATH = 256
/** The maximum length of a logged message, stack, or thrown non-error. */
const MAX_TEXT = 4000
const MAX_THROWN = 500

/** The prefixes of paths that end with names of files and folders: WebDAV and the console. */
const namesOfFiles =
  /^(\/+dav(?:\/+(?:files|shared|workspaces(?:\/+[^/]+)?))?|\/+(?:files|shared)|\/+workspaces\/+[^/]+\/+files)\/+[^/].*$/i

/**
 * The loggable part of a URL: its path without tokens. Query strings contain signatures and
 * cursors, and some paths contain tokens.
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
  // Most paths cannot contain a token or e-mail address, and each pattern costs time on every
  // request.
  if (path.length < 40 && !/[@%]/.test(path)) return path
  const shown = path
    // A token in a path may contain percent escapes.
    .replace(/[\w%-]{40,}/g, ':token')
    // Works by segment, because a single pattern takes quadratic time on a segment without an
    // e-mail address.
    .split('/')
    .map(part => (/@|%40/i.test(part) ? ':address' : part))
    .join('/')
  return shown.length > LONGEST_PATH ? `${shown.slice(0, LONGEST_PATH)}...` : shown
}

/**
 * The loggable part of an error, without values of SQL statements, signed URLs and e-mail
 * addresses.
 */
function loggableError(error: unknown): unknown {
  // In a sandbox, errors of Node's core come from another realm. Errors of old libraries are not
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

/** Removes secrets, signed URLs and e-mail addresses from a text. */
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
 * Logs the start and the end of an outage, once each and in different words, so that an alert on
 * the outage message does not fire when it ends. Does not log failures in between.
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
