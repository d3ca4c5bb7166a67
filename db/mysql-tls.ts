import { isIP, type Socket } from 'node:net'
import { checkServerIdentity, type TLSSocket } from 'node:tls'
import { type Connection, type ConnectionOptions, createConnection } from 'mysql2'
import type { DatabaseTls } from '../src/config/database-tls.ts'

/** Begins TLS, and calls back before anything else is sent. Missing in the types of mysql2. */
type Secured = Connection & { stream: Socket; startTLS?: (done: (error?: Error) => void) => void }

/**
 * Connects to a server. With `tls`, a server without TLS is refused before the password is sent.
 */
export function connectByTls(options: ConnectionOptions, tls?: DatabaseTls): Connection {
  if (!tls) return createConnection(options)
  const { verifiesHost, ...files } = tls
  const host = options.host ?? ''
  const on = createConnection({
    ...options,
    ssl: { ...files, minVersion: 'TLSv1.2', verifyIdentity: verifiesHost && !isIP(host) },
  }) as Secured
  if (verifiesHost && isIP(host)) verifyAddress(on, host)
  return on
}

/**
 * mysql2 compares certificates only with names: instead of an address, it would compare
 * "localhost".
 */
function verifyAddress(on: Secured, address: string): void {
  const start = on.startTLS?.bind(on)
  if (!start) throw new Error('mysql2 begins TLS in another way; see db/mysql-tls.ts.')
  on.startTLS = done =>
    start(error =>
      done(
        error ?? checkServerIdentity(address, (on.stream as TLSSocket).getPeerCertificate(true)),
      ),
    )
}
