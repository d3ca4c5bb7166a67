import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import { parseContentMd5 } from '../services/uploads/upload-part.ts'
import { hexOfCrc32 as hexOfSum } from '../upload-engine/crc32.ts'

/** The checksums and size that a client announces for an upload. */
interface Expectations {
  /** `header` is the header with the checksum; `value` is in lower-case hex. */
  checksums: { header: string; kind: Kind; value: string }[]
  /** The announced size in bytes. */
  size: number | undefined
}

interface Sum {
  update(bytes: Uint8Array): unknown
  digest(encoding: 'hex'): string
}

const ADLER_PRIME = 65_521
/** This many bytes can be added before a sum exceeds 2^31, beyond which engines are slower. */
const ADLER_RUN = 3800

/** Adler-32 (RFC 1950, section 8.2), which Node's zlib does not export. */
function adler32(): Sum {
  let [a, b] = [1, 0]
  return {
    update(bytes) {
      for (let start = 0; start < bytes.length; start += ADLER_RUN) {
        const end = Math.min(bytes.length, start + ADLER_RUN)
        for (let i = start; i < end; i++) {
          a += bytes[i] ?? 0
          b += a
        }
        a %= ADLER_PRIME
        b %= ADLER_PRIME
      }
    },
    digest: () => hexOfSum(b * 65_536 + a),
  }
}

/** The supported checksums by ownCloud's names, with their length in hex digits. */
const kinds = {
  MD5: { digits: 32, start: (): Sum => createHash('md5') },
  SHA1: { digits: 40, start: (): Sum => createHash('sha1') },
  SHA256: { digits: 64, start: (): Sum => createHash('sha256') },
  SHA512: { digits: 128, start: (): Sum => createHash('sha512') },
  'SHA3-256': { digits: 64, start: (): Sum => createHash('sha3-256') },
  ADLER32: { digits: 8, start: adler32 },
} as const
type Kind = keyof typeof kinds

function readChecksum(text: string): Expectations['checksums'][number] {
  const [name = '', value = '', ...more] = text.split(':')
  const kind = (Object.keys(kinds) as Kind[]).find(one => one === name.toUpperCase())
  if (!kind || more.length > 0)
    throw new InvalidInput(
      'OC-Checksum',
      `OC-Checksum is KIND:HEX. The kinds are ${Object.keys(kinds).join(', ')}.`,
    )
  const { digits } = kinds[kind]
  // An Adler-32 is a number, and clients omit its leading zeros.
  const hex = kind === 'ADLER32' && value !== '' ? value.padStart(digits, '0') : value
  if (hex.length !== digits || !/^[0-9a-f]+$/i.test(hex))
    throw new InvalidInput('OC-Checksum', `A ${kind} has ${digits} hex digits.`)
  return { header: 'OC-Checksum', kind, value: hex.toLowerCase() }
}

const otherSize = (expected: number) =>
  new AppError(
    'CHECKSUM_MISMATCH',
    `The body does not have the ${expected} bytes of OC-Total-Length. Send the whole file again.`,
  )

/**
 * Reads the headers that announce an upload's checksums and size: `OC-Checksum` and
 * `OC-Total-Length` of rclone and ownCloud clients, and Content-MD5 (RFC 1864).
 * @param bound the body length, if the client announces it
 * @throws INVALID_INPUT for an unsupported checksum, CHECKSUM_MISMATCH for a different length
 */
export function expectationsOf(
  headers: IncomingHttpHeaders,
  bound: number | undefined,
): Expectations {
  const one = (name: string) => headers[name]?.toString().trim() ?? ''
  const checksums = one('oc-checksum')
    .split(/\s+/)
    .filter(text => text !== '')
    .map(readChecksum)
  const md5 = parseContentMd5(one('content-md5'))
  if (md5 !== undefined) checksums.push({ header: 'Content-MD5', kind: 'MD5', value: md5 })
  const total = one('oc-total-length')
  if (total === '') return { checksums, size: undefined }
  const size = Number(total)
  if (!/^\d+$/.test(total) || !Number.isSafeInteger(size))
    throw new InvalidInput('OC-Total-Length', 'OC-Total-Length is a number of bytes.')
  if (bound !== undefined && bound !== size) throw otherSize(size)
  return { checksums, size }
}

/**
 * Passes the bytes of a source through, and fails at the end unless they match.
 * @throws CHECKSUM_MISMATCH
 */
export function verified(
  source: AsyncIterable<Uint8Array>,
  { checksums, size }: Expectations,
): AsyncIterable<Uint8Array> {
  if (checksums.length === 0 && size === undefined) return source
  const sums = checksums.map(({ kind }) => kinds[kind].start())
  return (async function* () {
    let total = 0
    for await (const bytes of source) {
      total += bytes.length
      for (const sum of sums) sum.update(bytes)
      yield bytes
    }
    if (size !== undefined && total !== size) throw otherSize(size)
    for (const [i, { header, value }] of checksums.entries())
      if (sums[i]?.digest('hex') !== value)
        throw new AppError(
          'CHECKSUM_MISMATCH',
          `The bytes do not have the checksum in ${header}. Send the file again.`,
        )
  })()
}
