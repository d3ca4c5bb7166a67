import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from '@jest/globals'
import type { Attack, Outcome } from './attackers-process.ts'
import type { BuiltService } from './built-service.ts'

export interface Attackers {
  /**
   * Starts the attack. Resolves when every request has its response, or everything has been sent.
   */
  attack(): Promise<Outcome[]>
  /** Closes the connections. */
  end(): Promise<void>
}

/**
 * A separate process that sends all requests at the same time, or only their beginnings. It has a
 * lower priority than the service (nice 19), because real attackers would not share its processors.
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
        ended.then(() => Promise.reject(new Error('The process of the attackers has exited.'))),
      ])
      return outcomes as Outcome[]
    },
    async end() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Sends all requests, and stops the process afterwards. */
export async function attack(
  requests: Extract<Attack, { kind: 'requests' }>['requests'],
): Promise<Outcome[]> {
  const attackers = await gather({ kind: 'requests', requests })
  return attackers.attack().finally(attackers.end)
}

/**
 * Milliseconds that the main thread of a process has waited for a processor: proc(5), schedstat.
 */
const waited = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6

/**
 * Durations of health checks in milliseconds: the median as measured, and the slowest without its
 * wait for a processor.
 */
export interface Health {
  median: number
  slowest: number
}

/**
 * Requests /healthz until it is stopped. Other load on the machine can delay any process, so the
 * time that the service and this process waited for a processor is subtracted from single
 * responses.
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

/** Expects that every check was answered within half a second. */
export function expectHealthy({ median, slowest }: Health): void {
  expect(median).toBeLessThan(500)
  expect(slowest).toBeLessThan(500)
}
