import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type App, type AppOptions, createApp } from '../../src/app.ts'
import type { Config } from '../../src/config/config.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { localCoordination } from '../../src/coordination/local.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { attend } from '../../src/workers/attend.ts'
import { type Instance, linkedInstance } from '../../src/workers/link.ts'
import type { FromWorker, ToWorker } from '../../src/workers/messages.ts'

/**
 * An instance with two workers and their supervisor in the process of the tests: two services that
 * share only the database, the store and the messages between workers and supervisor. Requests
 * alternate between them. The first worker runs the jobs.
 */
export async function createTwoWorkers(config: Config, options: AppOptions): Promise<App> {
  const [one, two] = linkWorkers(options.instance?.coordination ?? localCoordination())
  const first = await createApp(config, { ...options, instance: one, isFirst: true })
  let second: App | undefined
  const both = () => (second ? [first, second] : [first])
  const idle = (app: App) => app.services.backgroundCompletions.idle()
  const { backgroundCompletions } = first.services
  const { sampler } = first

  return {
    ...first,
    sampler: sampler && {
      ...sampler,
      sample: async at => void (await Promise.all(both().map(app => app.sampler?.sample(at)))),
    },
    services: {
      ...first.services,
      backgroundCompletions: {
        ...backgroundCompletions,
        idle: async () => void (await Promise.all(both().map(idle))),
      },
    },
    gateway: {
      ...first.gateway,
      get phase() {
        return first.gateway.phase
      },
      get running() {
        return both().reduce((sum, { gateway }) => sum + gateway.running, 0)
      },
      intake: {
        ...first.gateway.intake,
        get open() {
          return both().reduce((sum, { gateway }) => sum + gateway.intake.open, 0)
        },
      },
    },
    async start() {
      const publicUrl = await first.start()
      second = await createApp(
        { ...config, publicUrl, port: 0 },
        { ...options, instance: two, isFirst: false },
      )
      await second.start()
      takeTurns(first.gateway.server, second.gateway.server)
      first.lead()
      return publicUrl
    },
    async stop(hurry) {
      await Promise.all(both().map(app => app.stop(hurry)))
    },
  }
}

/**
 * The channels of the workers, with the supervisor between them. Messages arrive later, and are
 * copies.
 * @param supervisor the counters of the supervisor
 */
function linkWorkers(supervisor: Coordination): [Instance, Instance] {
  const history = createRecorder(2)
  const hears: ((message: ToWorker) => void)[][] = [[], []]
  const later = <T>(message: T, hear: (copy: T) => void) => {
    const copy = structuredClone(message)
    setImmediate(() => hear(copy))
  }
  const link = (index: number): Instance => {
    const to = (receiver: number) => (message: ToWorker) =>
      later(message, copy => {
        for (const heard of hears[receiver] ?? []) heard(copy)
      })
    const attended = attend(supervisor, history, to(index), to(1 - index))
    const send = (message: FromWorker) => later(message, copy => void attended.hear(copy))
    return linkedInstance({ send, hear: heard => void hears[index]?.push(heard) }, 2)
  }
  return [link(0), link(1)]
}

/**
 * Alternates the requests to one server between both workers. Further requests on one connection go
 * to the same worker.
 */
function takeTurns(server: Server, other: Server): void {
  const handlers = [server, other].map(each => each.listeners('request')[0] as RequestListener)
  const busy = new WeakMap<Socket, { handler: RequestListener | undefined; requests: number }>()
  let turn = 0
  const [own] = handlers
  if (own) server.off('request', own)
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    const { socket } = req
    const line = busy.get(socket) ?? { handler: handlers[turn++ % handlers.length], requests: 0 }
    busy.set(socket, line)
    line.requests++
    res.once('close', () => {
      if (--line.requests === 0) busy.delete(socket)
    })
    line.handler?.(req, res)
  })
}
