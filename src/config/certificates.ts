import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const blocks = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * The certificates of a PEM file, one by one. Node.js ignores a file of authorities without any.
 * @throws Error that names the file
 */
export function readCertificates(file: string): string[] {
  const path = resolve(file)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(
      `${path} cannot be read (${error instanceof Error ? error.message : error}): name a file that can`,
    )
  }
  const found = text.match(blocks) ?? []
  if (found.length === 0)
    throw new Error(
      `${path} has no certificate (-----BEGIN CERTIFICATE-----): name a PEM file with certificates`,
    )
  for (const [at, pem] of found.entries())
    if (!isCertificate(pem))
      throw new Error(`${path}: certificate ${at + 1} is damaged: copy the file again`)
  return found
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}
