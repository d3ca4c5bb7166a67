import type { RequestListener } from 'node:http'
import { pino } from 'pino'
import { Incoming } from '../../src/http/incoming.ts'
import { type Admit, createThreshold, type DoorPlan } from '../../src/http/threshold.ts'
import { UnderMaintenance } from '../../src/services/maintenance.ts'

interface Options {
  /** Origins whose pages may act for their visitors. */
  ownOrigins?: string[]
  admit?: Admit
  /** Called when the threshold checks for maintenance. Returns whether one is active. */
  isMaintained?: () => boolean
  /** Receives the error that is counted. */
  noteError?: (thrown: unknown) => void
}

const log = pino({ level: 'silent' })

/** Serves a door behind its threshold, without a gateway. */
export function doorListener(
  plan: DoorPlan,
  {
    ownOrigins = [],
    admit = async () => {},
    isMaintained = () => false,
    noteError = () => {},
  }: Options = {},
): RequestListener {
  const maintenance = {
    requireWritable() {
      if (isMaintained())
        throw new UnderMaintenance({ startedAt: 0, endsAt: Date.now() + 60_000, message: '' })
    },
  }
  const door = createThreshold({ maintenance, ownOrigins: () => ownOrigins })(plan)
  return (req, res) => {
    const [path = '', search = ''] = (req.url ?? '').split(/\?(.*)/s)
    const incoming = new Incoming({
      req,
      res,
      path,
      search,
      address: req.socket.remoteAddress ?? '',
      signal: new AbortController().signal,
      requestId: 'r1',
      gatewayLog: log,
      originOf: () => ({ address: null, agent: null }),
      noteError,
    })
    void door.enter(incoming, admit)
  }
}
