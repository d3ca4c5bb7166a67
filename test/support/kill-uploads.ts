import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFrom } from './fuzz.ts'
import {
  BROKEN,
  md5OfWhole,
  parseSteps,
  partSizes,
  type Step,
  synthesize,
  type UploadJob,
} from './resuming-upload.ts'
import type { UploadSite } from './upload-site.ts'

export interface Campaign {
  /** The service under test, with a part size of `partBytes`. */
  site: UploadSite
  rounds: number
  /** The maximum size of a file. Its last part is shorter. */
  size: number
  partBytes: number
  /**
   * The same seed kills the same processes at the same steps. The progress within a step differs
   * each time.
   */
  seed: number
  /** Receives the report of each round. */
  say?: (line: string) => void
}

/** The results of a campaign. */
export interface Tally {
  /** The number of kills, by the killed process and the moment. */
  kills: Record<string, number>
  /** Parts that had been acknowledged before a kill. */
  kept: number
  /** Parts that were sent twice because the first try was not acknowledged. */
  again: number
}

/**
 * The shares of kills before an upload has begun and during its completion. All other kills happen
 * while parts are sent.
 */
const AT_START = 0.04
const AT_END = 0.26

interface Client {
  /** Resolves when the client takes its next step of this kind. */
  took(did: Step['did'], times?: number): Promise<void>
  kill(): void
  ended: Promise<{ code: number | null; err: string }>
}

/** A client program. */
function runClient(url: string, job: UploadJob): Client {
  const child = spawn(
    process.execPath,
    [resolve('test/support/resuming-client.ts'), url, JSON.stringify(job)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const counts = new Map<Step['did'], number>()
  const waiting: { did: Step['did']; times: number; go: () => void }[] = []
  createInterface(child.stdout).on('line', line => {
    const { did }: Step = JSON.parse(line)
    counts.set(did, (counts.get(did) ?? 0) + 1)
    for (const each of waiting) if ((counts.get(each.did) ?? 0) >= each.times) each.go()
  })
  let err = ''
  child.stderr.on('data', chunk => {
    err += chunk
  })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, err }))
  return {
    async took(did, times = 1) {
      if ((counts.get(did) ?? 0) >= times) return
      await Promise.race([new Promise<void>(go => waiting.push({ did, times, go })), ended])
    },
    kill: () => void child.kill('SIGKILL'),
    ended,
  }
}

/** Runs the client again until it has finished. Returns the number of runs. */
async function finish(urlOf: () => string, job: UploadJob): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { code, err } = await runClient(urlOf(), job).ended
    if (code === 0) return
    if (code !== BROKEN || tries === 5)
      throw new Error(`${job.name} was not finished (${code}): ${err}`)
    await sleep(200)
  }
}

/** Compares the download with the sent bytes, and deletes the file. */
async function expectBytes(site: UploadSite, place: number, job: UploadJob): Promise<void> {
  const alice = await site.alice(place)
  const { response } = await alice.rest('POST', `/api/user/private/download_token?file=${job.name}`)
  const { headers } = await alice.rest('GET', `/api/d/private/${response.private_download_token}`)
  const { body } = await fetch(headers.get('location') ?? '')
  const hash = createHash('md5')
  let size = 0
  for await (const chunk of body ?? []) {
    hash.update(chunk)
    size += chunk.length
  }
  const md5 = hash.digest('hex')
  if (size !== job.size || md5 !== job.md5)
    throw new Error(`${job.name} differs: ${size} bytes, MD5 ${md5}`)
  const { status } = await alice.rest('DELETE', `/api/files/delete?file=${job.name}`)
  if (status !== 200) throw new Error(`${job.name} cannot be deleted: ${status}`)
}

/**
 * According to the journal: parts that were sent again after their acknowledgement, and parts that
 * were sent more than once for any reason.
 */
function sentTwice(steps: Step[]): { acknowledged: number[]; again: number } {
  const acknowledged = new Set<number>()
  const sent = new Set<number>()
  const wrong: number[] = []
  let again = 0
  for (const step of steps) {
    if (step.did === 'acknowledged') acknowledged.add(step.part)
    if (step.did !== 'send') continue
    if (acknowledged.has(step.part)) wrong.push(step.part)
    if (sent.has(step.part)) again++
    sent.add(step.part)
  }
  return { acknowledged: wrong, again }
}

/**
 * Kills the service or its client during multipart uploads, round by round, and lets the client
 * finish each upload. Abandons some uploads.
 * @throws Error if anything differs from the expected state
 */
export async function killUploads(campaign: Campaign): Promise<Tally> {
  const { site, rounds, size: largest, partBytes, say = () => {} } = campaign
  const random = randomFrom(campaign.seed)
  const below = (n: number) => Math.floor(random() * n)
  const tally: Tally = { kills: {}, kept: 0, again: 0 }
  const dir = mkdtempSync(join(tmpdir(), 'satchel-journals-'))
  const { cookie } = await site.alice(0)

  const newJob = (name: string, direct: boolean): UploadJob => {
    const size = largest - below(partBytes)
    const seed = createHash('sha256').update(`${campaign.seed} ${name}`).digest('hex')
    return {
      cookie,
      journal: join(dir, name),
      name,
      seed,
      size,
      md5: md5OfWhole(seed, size, partBytes),
      direct,
    }
  }
  const stepsOf = (job: UploadJob) => parseSteps(readFileSync(job.journal, 'utf8'))

  /** The duration of an undisturbed completion, in milliseconds. */
  async function completionOf(job: UploadJob): Promise<number> {
    const client = runClient(site.at(0).url, job)
    await client.took('complete')
    const start = performance.now()
    const { code, err } = await client.ended
    const took = performance.now() - start
    if (code !== 0) throw new Error(`${job.name} could not be uploaded at all: ${err}`)
    await expectBytes(site, 0, job)
    return took
  }

  /** Waits for the moment of the kill in an upload. Returns what is running then. */
  async function moment(client: Client, job: UploadJob, completion: number): Promise<string> {
    const at = random()
    if (at < AT_START) {
      await client.took('began')
      await sleep(random() * 20)
      return 'start'
    }
    if (at >= 1 - AT_END) {
      await client.took('complete')
      await sleep(random() * completion)
      return 'completion'
    }
    await client.took('acknowledged', Math.ceil(random() * partSizes(job.size, partBytes).length))
    await sleep(random() * 20)
    return 'parts'
  }

  async function round(
    n: number,
    completions: { through: number; direct: number },
  ): Promise<boolean> {
    const direct = random() < 0.25
    const job = newJob(`file-${n}`, direct)
    const place = below(site.instances)
    const client = runClient(site.at(place).url, job)
    const during = await moment(client, job, direct ? completions.direct : completions.through)
    const victim = random() < 0.5 ? 'client' : 'service'
    let next = place
    let back: Promise<void> | undefined
    if (victim === 'client') {
      client.kill()
      next = below(site.instances)
    } else {
      await site.end(place, 'SIGKILL')
      next = below(site.instances)
      back = site.start(place)
      if (next === place) await back
    }
    const { code, err } = await client.ended
    if (code === 1) throw new Error(`${job.name}, ${victim} killed: ${err}`)
    const steps = stepsOf(job)
    await finish(() => site.at(next).url, job)
    await back
    await expectBytes(site, next, job)
    if (code === 0) return false

    const { acknowledged, again } = sentTwice(stepsOf(job))
    if (acknowledged.length > 0)
      throw new Error(`${job.name}: acknowledged parts were sent again: ${acknowledged}`)
    const kept = steps.filter(({ did }) => did === 'acknowledged').length
    tally.kept += kept
    tally.again += again
    const elsewhere = next === place ? '' : ', goes on at the other instance'
    const what = `${victim} killed during ${during}${direct ? ' (direct)' : ''}${elsewhere}`
    tally.kills[what] = (tally.kills[what] ?? 0) + 1
    say(`${String(n).padStart(3)}: ${what}; ${kept} parts were there, ${again} sent again`)
    return true
  }

  /** Abandoned uploads: begun, half sent, refused at completion, and sent again after that. */
  async function abandon(): Promise<void> {
    const alice = await site.alice(0)
    for (const direct of [false, true])
      for (const [i, stage] of ['begun', 'half', 'refused', 'anew'].entries()) {
        const size = 2 * partBytes
        const json = { filename: `abandoned-${stage}-${direct}`, size, direct }
        const { response: upload } = await alice.rest('POST', '/api/files/uploads', { json })
        const path = `/api/files/uploads/${upload.upload_id}`
        const send = async (part: number) => {
          const body = synthesize('00'.repeat(32), part, partBytes)
          const { status, text } = await alice.rest('PUT', `${path}/parts/${part}`, { body })
          if (status !== 200)
            throw new Error(`Part ${part} of ${json.filename} was not taken: ${text}`)
        }
        if (i >= 1) await send(1)
        if (i >= 2) await send(2)
        if (i >= 2) {
          const refused = await alice.rest('POST', `${path}/complete`, {
            json: { md5: '0'.repeat(32) },
          })
          if (refused.response.code !== 'CHECKSUM_MISMATCH')
            throw new Error(`It was not refused: ${refused.text}`)
        }
        if (i >= 3) await send(1)
      }
  }

  try {
    const completions = {
      through: await completionOf(newJob('undisturbed', false)),
      direct: await completionOf(newJob('undisturbed-direct', true)),
    }
    // A client that finished before the kill does not count.
    for (let [n, kills] = [1, 0]; kills < rounds; n++) {
      if (n > 2 * rounds + 10) throw new Error('Too many uploads finish before anybody is killed.')
      if (await round(n, completions)) kills++
    }
    await abandon()
    return tally
  } catch (error) {
    for (let i = 0; i < site.instances; i++) say(`Instance ${i} has said:\n${site.at(i).said()}`)
    throw error
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
