import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { connect, type DetailedPeerCertificate, getCACertificates } from 'node:tls'
import { readEnvironment } from '../config.ts'
import { Failure } from '../failure.ts'
import type { Mounter } from './registry.ts'

const CONNECT_MS = 15_000

/**
 * Writes the certificate authorities for a mount program into the folder of the mount, if
 * SATCHEL_CA_FILE is set. rclone trusts all authorities of the file, and no others. davfs2 reads
 * only one certificate of a file, so it gets the authority of the service.
 *
 * @returns the file, or undefined if the program needs none
 * @throws MOUNT_FAILED
 */
export async function writeAuthorities(
  mounter: Mounter,
  url: string,
  folder: string,
): Promise<string | undefined> {
  if (!readEnvironment().caFile || new URL(url).protocol !== 'https:') return undefined
  const file = join(folder, 'authorities.pem')
  const pems = mounter === 'rclone' ? getCACertificates('default') : [await authorityOf(url)]
  await writeFile(file, pems.map(pem => `${pem.trim()}\n`).join(''), { mode: 0o600 })
  return file
}

/** @returns the PEM of the authority at the end of the service's verified chain */
async function authorityOf(url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: Number(port) || 443,
    ...(isIP(host) ? {} : { servername: host }),
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(CONNECT_MS) })
    let certificate: DetailedPeerCertificate = socket.getPeerCertificate(true)
    // A self-signed certificate is its own issuer.
    while (certificate.issuerCertificate && certificate.issuerCertificate !== certificate)
      certificate = certificate.issuerCertificate
    const base64 = certificate.raw.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
    return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----`
  } catch (error) {
    throw new Failure(
      'MOUNT_FAILED',
      `The certificate of ${host} cannot be verified: ${error instanceof Error ? error.message : error}`,
    )
  } finally {
    socket.destroy()
  }
}
