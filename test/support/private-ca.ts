import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new certificate authority, in a folder. */
export interface PrivateCa {
  dir: string
  /** The PEM file of the authority. */
  file: string
  /** Issues a certificate. @param names such as DNS:localhost and IP:127.0.0.1 */
  issue(name: string, names?: string[]): { cert: string; key: string }
  remove(): void
}

export function makeCa(): PrivateCa {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-ca-'))
  chmodSync(dir, 0o755)
  const at = (file: string) => join(dir, file)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    ...['req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=Satchel test CA'],
    ...['-keyout', at('ca.key'), '-out', at('ca.pem')],
  )
  return {
    dir,
    file: at('ca.pem'),
    issue(name, names = []) {
      const [cert, key, request, more] = ['pem', 'key', 'csr', 'ext'].map(kind =>
        at(`${name}.${kind}`),
      ) as [string, string, string, string]
      openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', key, '-out', request)
      writeFileSync(more, names.length > 0 ? `subjectAltName=${names.join(',')}\n` : '')
      openssl(
        ...['x509', '-req', '-days', '2', '-in', request, '-out', cert, '-extfile', more],
        ...['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'],
      )
      chmodSync(key, 0o644)
      return { cert, key }
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
