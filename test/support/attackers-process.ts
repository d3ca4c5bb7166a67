import { once } from 'node:events'
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** The requests of an attack, and the condition to stop it. */
export type Attack =
  | {
      kind: 'requests'
      requests: { url: string; method: string; headers: Record<string, string>; body?: string }[]
    }
  | {
      /** Requests that never end. This many connections are opened in parallel. */
      kind: 'half'
      url: string
      heads: string[]
      body: Uint8Array
      opening: number
    }

/**
 * The result of each request: its status, or 0 if the connection broke, and the start of the
 * response body.
 */
export interface Outcome {
  status: number
  retryAfter: string | null
  text: string
}

setPriority(19)

process.once('message', (attack: Attack) => {
  process.once('message', async () =>
    process.send?.(await (attack.kind === 'half' ? half(attack) : whole(attack))),
  )
  process.send?.('ready')
})

const whole = ({ requests }: Extract<Attack, { kind: 'requests' }>): Promise<Outcome[]> =>
  Promise.all(
    requests.map(async ({ url, body = null, ...request }) => {
      try {
        const response = await fetch(url, { ...request, body, redirect: 'manual' })
        const text = await response.text()
        return {
          status: response.status,
          retryAfter: response.headers.get('retry-after'),
          text: text.slice(0, 2000),
        }
      } catch {
        return { status: 0, retryAfter: null, text: '' }
      }
    }),
  )

async function half({
  url,
  heads,
  body,
  opening,
}: Extract<Attack, { kind: 'half' }>): Promise<Outcome[]> {
  const { hostname, port } = new URL(url)
  const left = heads.values()
  const begin = async () => {
    for (const head of left) {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      // A closed connection counts as a response.
      socket.on('error', () => {}).resume()
      await once(socket, 'connect')
      const sent = new Promise<void>(done => {
        socket.once('close', done)
        socket.write(head)
        socket.write(body, () => done())
      })
      // After a refusal, the service reads the body slowly or not at all.
      await Promise.race([sent, sleep(1000)])
    }
  }
  await Promise.all(Array.from({ length: opening }, begin))
  return []
}
