import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { readCertificates } from './certificates.ts'

const modes = ['disabled', 'verify-ca', 'verify-identity'] as const

/** TLS settings for the database. Parameters in its URL override them. */
export const databaseTlsSettings = {
  DATABASE_TLS: {
    help: 'TLS to MySQL or MariaDB: disabled; verify-identity: required, and the certificate of the server must name its host; verify-ca: required, but the name is not checked',
    default: 'disabled',
    read: z.enum(modes),
  },
  DATABASE_CA_FILE: {
    help: 'PEM file of the certificate authorities of the database, instead of all others',
    default: '',
    shown: 'those of Node.js and of CA_FILE',
    read: z.string(),
  },
  DATABASE_CERT_FILE: {
    help: 'PEM file of a client certificate for the database',
    default: '',
    shown: 'none',
    read: z.string(),
  },
  DATABASE_KEY_FILE: {
    help: 'PEM file of the key of DATABASE_CERT_FILE',
    default: '',
    shown: 'none',
    read: z.string(),
  },
} as const

export type DatabaseTlsValues = {
  [K in keyof typeof databaseTlsSettings]: z.output<(typeof databaseTlsSettings)[K]['read']>
}

/** TLS options for the database. Missing options have the defaults of Node.js. */
export interface DatabaseTls {
  ca?: string
  cert?: string
  key?: string
  /** Whether the server's certificate must match its host name. */
  verifiesHost: boolean
}

/** The URL parameters, named as in the MySQL tools, and the settings that they override. */
const parameters = {
  'ssl-mode': 'DATABASE_TLS',
  'ssl-ca': 'DATABASE_CA_FILE',
  'ssl-cert': 'DATABASE_CERT_FILE',
  'ssl-key': 'DATABASE_KEY_FILE',
} as const

/** @returns the URL without its TLS parameters, and the resulting TLS options */
export function readDatabaseTls(
  given: string,
  values: DatabaseTlsValues,
  problems: string[],
): { url: string; tls: DatabaseTls | undefined } {
  const [url = '', query = ''] = given.split('?')
  const inUrl = new URLSearchParams(query)
  const chosen: Record<keyof DatabaseTlsValues, string> = { ...values }
  for (const [parameter, setting] of Object.entries(parameters)) {
    const value = inUrl.get(parameter)
    if (value === null) continue
    chosen[setting] = parameter === 'ssl-mode' ? value.toLowerCase().replaceAll('_', '-') : value
    inUrl.delete(parameter)
  }
  const rest = inUrl.size > 0 ? `${url}?${inUrl}` : url
  const mode = modes.find(known => known === chosen.DATABASE_TLS)
  if (!mode)
    problems.push(
      `DATABASE_URL: ssl-mode must be one of ${modes.join(', ')}: encryption without a check of the certificate protects from nobody who can read along`,
    )
  const { DATABASE_CA_FILE, DATABASE_CERT_FILE, DATABASE_KEY_FILE } = chosen
  if (mode === 'disabled') {
    if (DATABASE_CA_FILE || DATABASE_CERT_FILE || DATABASE_KEY_FILE)
      problems.push('DATABASE_TLS: must be verify-identity or verify-ca if a file for TLS is set')
    return { url: rest, tls: undefined }
  }
  if (Boolean(DATABASE_CERT_FILE) !== Boolean(DATABASE_KEY_FILE))
    problems.push('DATABASE_CERT_FILE and DATABASE_KEY_FILE: set both or none')
  const ca = certificatesOf('DATABASE_CA_FILE', DATABASE_CA_FILE, problems)?.join('\n')
  const cert = certificatesOf('DATABASE_CERT_FILE', DATABASE_CERT_FILE, problems)?.join('\n')
  const key = readKey('DATABASE_KEY_FILE', DATABASE_KEY_FILE, problems)
  return {
    url: rest,
    tls: {
      ...(ca ? { ca } : {}),
      ...(cert ? { cert } : {}),
      ...(key ? { key } : {}),
      verifiesHost: mode === 'verify-identity',
    },
  }
}

/** Reads the key of a PEM file; undefined if none is named, or after a problem. */
function readKey(setting: string, file: string, problems: string[]): string | undefined {
  if (!file) return undefined
  try {
    const text = readFileSync(resolve(file), 'utf8')
    if (/^-----BEGIN [A-Z ]*PRIVATE KEY-----/m.test(text)) return text
    problems.push(`${setting}: ${resolve(file)} has no key (-----BEGIN PRIVATE KEY-----)`)
  } catch (error) {
    problems.push(
      `${setting}: ${resolve(file)} cannot be read (${error instanceof Error ? error.message : error})`,
    )
  }
  return undefined
}

/** Reads the certificates of a PEM file; undefined if none is named, or after a problem. */
export function certificatesOf(
  setting: string,
  file: string,
  problems: string[],
): string[] | undefined {
  if (!file) return undefined
  try {
    return readCertificates(file)
  } catch (error) {
    problems.push(`${setting}: ${error instanceof Error ? error.message : error}`)
    return undefined
  }
}
