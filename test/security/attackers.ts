import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from '@jest/globals'
import type { BuiltService } from '../built-service.ts'
import type { Attack, Outcome } from './attackers-process.ts'

export interface Attackers {
  /**
   * Begins; resolves when every request has its answer, or everything that is to be sent of it is
   * sent.
   */
  attack(): Promise<Outcome[]>
  /** Hangs up. */
  end(): Promise<void>
}

/**
 * Attackers of their own: a process that sends all requests at once, or what is to be sent of each.
 * It stands behind the service for the processors of this machine (nice 19), for real ones would
 * not share them.
 */
export async function gather(attack: Attack): Promise<Attackers> {
  const child = fork(new URL('attackers-process.ts', import.meta.url), {
    serialization: 'advanced',
  })
  const ended = once(child, 'exit')
  child.send(attack)
  await once(child, 'message')
  return {
    async attack() {
      const answered = once(child, 'message')
      child.send('go')
      const [outcomes] = await Promise.race([
        answered,
        ended.then(() => Promise.reject(new Error('They are gone.'))),
      ])
      return outcomes as Outcome[]
    },
    async end() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Sends all requests, and lets nothing of it stay. */
export async function attack(
  requests: Extract<Attack, { kind: 'requests' }>['requests'],
): Promise<Outcome[]> {
  const attackers = await gather({ kind: 'requests', requests })
  return attackers.attack().finally(attackers.end)
}

/**
 * Milliseconds that the first thread of a process has waited for a processor while others had them:
 * proc(5), schedstat.
 */
const waited = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6

/**
 * How long health checks took, in milliseconds: half of them as it was, and the slowest without its
 * wait for a processor.
 */
export interface Health {
  median: number
  slowest: number
}

/**
 * Asks for /healthz until it is stopped. Whatever else the machine does (other tests, too) can hold
 * up any process, so what the service and this process have waited for a processor does not count
 * for single answers.
 */
export function watchHealth({
  url,
  pid,
}: Pick<BuiltService, 'url' | 'pid'>): () => Promise<Health> {
  const took: number[] = []
  let slowest = 0
  let over = false
  const idle = () => waited(pid) + waited(process.pid)
  const watching = (async () => {
    while (!over) {
      const [begun, before] = [performance.now(), idle()]
      const status = await fetch(`${url}/healthz`).then(
        res => res.text().then(() => res.status),
        () => 0,
      )
      const ms = status === 200 ? performance.now() - begun : Number.POSITIVE_INFINITY
      took.push(ms)
      slowest = Math.max(slowest, ms - (idle() - before))
      await sleep(20)
    }
  })()
  return async () => {
    over = true
    await watching
    took.sort((a, b) => a - b)
    return { median: took[took.length >> 1] ?? Number.POSITIVE_INFINITY, slowest }
  }
}

/** Every one was answered within half a second. */
export function expectHealthy({ median, slowest }: Health): void {
  expect(median).toBeLessThan(500)
  expect(slowest).toBeLessThan(500)
}
