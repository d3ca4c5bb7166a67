import type { FileRequest, SenderPlace } from '../../../db/models/file-request.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import {
  MAX_EXPECTED,
  MAX_KINDS,
  MAX_LABEL,
  MAX_REQUESTED_BYTES,
  MAX_REQUESTED_FILES,
  MAX_SENDER_NAME,
} from '../../values/limits.ts'
import { mediaTypeOf } from '../../values/media.ts'
import { oneLine } from '../../values/one-line.ts'
import { parseMessage } from '../notices/mail-message.ts'
import { givenOf, parseBound, parseExpiry } from './link-term.ts'

/**
 * The terms of a file request from the client. Undefined fields stay unchanged or get their
 * default. Null removes a limit.
 */
export interface RequestInput {
  label?: string | null | undefined
  message?: string | null | undefined
  /** A duration or `never`. */
  duration?: string | null | undefined
  password?: string | null | undefined
  maxFiles?: number | null | undefined
  maxFileSize?: number | null | undefined
  maxBytes?: number | null | undefined
  kinds?: readonly string[] | null | undefined
  asksName?: boolean | null | undefined
  /** The names of the expected senders. */
  expected?: readonly string[] | null | undefined
  senderPlace?: SenderPlace | null | undefined
  notifies?: boolean | null | undefined
}

/** The validated terms. */
export interface RequestTerms {
  label?: string
  message?: string
  expiresAt?: number | null
  maxFiles?: number | null
  maxFileBytes?: number | null
  maxBytes?: number | null
  kinds?: string
  asksName?: boolean
  expected?: string | null
  senderPlace?: SenderPlace
  notifies?: boolean
}

export const DEFAULT_DURATION = '30d'
const EXTENSION = /^\.[a-z0-9][a-z0-9_+-]{0,15}$/
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,60}\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,60})$/

/** @throws INVALID_INPUT, INVALID_DURATION */
export function parseTerms(input: RequestInput, now: number): RequestTerms {
  const { label, message, duration, asksName, notifies, kinds } = input
  return givenOf({
    label: label === undefined ? undefined : parseLabel(label ?? ''),
    message: message === undefined ? undefined : parseMessage(message ?? ''),
    expiresAt: duration ? parseExpiry(duration, now) : undefined,
    maxFiles: parseBound(input.maxFiles, 'max_files', MAX_REQUESTED_FILES),
    maxFileBytes: parseBound(input.maxFileSize, 'max_file_size', MAX_REQUESTED_BYTES),
    maxBytes: parseBound(input.maxBytes, 'max_bytes', MAX_REQUESTED_BYTES),
    kinds: kinds === undefined ? undefined : parseKinds(kinds ?? []),
    asksName: asksName ?? undefined,
    expected: input.expected === undefined ? undefined : parseExpected(input.expected ?? []),
    senderPlace: input.senderPlace ?? undefined,
    notifies: notifies ?? undefined,
  })
}

function parseLabel(text: string): string {
  const label = oneLine(text)
  if (label === '' || label.length > MAX_LABEL)
    throw new InvalidInput('label', `The title must have 1 to ${MAX_LABEL} characters.`)
  return label
}

function parseKinds(given: readonly string[]): string {
  const kinds = [...new Set(given.map(kind => kind.trim().toLowerCase()))]
  const wrong = kinds.find(kind => !EXTENSION.test(kind) && !MEDIA_TYPE.test(kind))
  if (wrong !== undefined || kinds.length > MAX_KINDS)
    throw new InvalidInput(
      'kinds',
      `Give up to ${MAX_KINDS} extensions or media types, such as .pdf, image/*, text/csv.`,
    )
  return kinds.join(' ')
}

/** A key that is equal for names that differ only in case, spaces or Unicode form. */
export const senderKey = (name: string): string => oneLine(name).normalize('NFKC').toLowerCase()

function parseExpected(given: readonly string[]): string | null {
  const names = new Map(given.map(name => [senderKey(name), oneLine(name)]))
  names.delete('')
  const tooLong = [...names.values()].some(name => name.length > MAX_SENDER_NAME)
  if (tooLong || names.size > MAX_EXPECTED)
    throw new InvalidInput(
      'expected',
      `Name up to ${MAX_EXPECTED} senders, with up to ${MAX_SENDER_NAME} characters each.`,
    )
  return names.size > 0 ? [...names.values()].join('\n') : null
}

export const expectedOf = (expected: string | null): string[] => expected?.split('\n') ?? []

/**
 * Makes the request ask for names if its terms need them.
 * @param before the current terms of the request
 * @throws INVALID_INPUT if `asksName` is false although the terms need names
 */
export function askingNames(
  terms: RequestTerms,
  before: Pick<FileRequest, 'expected' | 'senderPlace'> = { expected: null, senderPlace: 'none' },
): RequestTerms {
  const { expected, senderPlace } = { ...before, ...terms }
  if (expected === null && senderPlace === 'none') return terms
  if (terms.asksName === false)
    throw new InvalidInput(
      'asks_name',
      'The senders must give their names: the request expects a list of names, or files by sender.',
    )
  return { ...terms, asksName: true }
}

export const kindsOf = (kinds: string): string[] => (kinds === '' ? [] : kinds.split(' '))

/**
 * Refuses a file by its name, because senders may declare any type.
 * @throws INVALID_INPUT
 */
export function refuseKind(kinds: string, name: string): void {
  const all = kindsOf(kinds)
  const type = mediaTypeOf(name).replace(/;.*/, '')
  const fits = (kind: string) =>
    kind.startsWith('.')
      ? name.toLowerCase().endsWith(kind)
      : kind === type || (kind.endsWith('/*') && type.startsWith(kind.slice(0, -1)))
  if (all.length > 0 && !all.some(fits))
    throw new InvalidInput(
      'file',
      `Files of this kind are not accepted. Accepted kinds: ${all.join(', ')}.`,
    )
}

export const requestNotFound = () =>
  new AppError(
    'FILE_REQUEST_NOT_FOUND',
    'This link does not work. Ask the person who sent it to you for a new one.',
  )

export const requestClosed = () =>
  new AppError(
    'FILE_REQUEST_CLOSED',
    'Files are no longer accepted here. Ask the person who sent you this link.',
  )

export const requestFull = (message = 'The limit of this file request is reached.') =>
  new AppError('FILE_REQUEST_FULL', `${message} Ask the person who sent you this link.`)
