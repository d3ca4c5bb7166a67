import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from '@jest/globals'
import { basic } from '../../support/dav-client.ts'
import { nextcloudClient } from '../../support/nextcloud-client.ts'
import { localTree, QUIET, requestsIn, syncOnce } from '../../support/nextcloud-sync.ts'
import { testWith } from '../../support/programs.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts'

/** 100,000 files, in 1,111 folders: `NEXTCLOUD_FOLDERS=5` for 5,000. */
const FOLDERS = Number(process.env.NEXTCLOUD_FOLDERS ?? 100)
const EACH = 1000

const dir = mkdtempSync(join(tmpdir(), 'satchel-nextcloud-many-'))
let service: ServiceProcess
beforeAll(async () => {
  service = await startServiceProcess({ LOG_LEVEL: 'info' })
}, 120_000)
afterAll(async () => {
  await service?.stop()
  rmSync(dir, { recursive: true })
})

const test = testWith('nextcloudcmd')

test('a sync of 100,000 files without changes sends four requests', async () => {
  await service.limit({ maxFiles: null, maxFolders: null })
  const [person] = await service.signIn('many')
  if (!person) throw new Error('Nobody has signed in.')
  const scopes = ['read', 'write', 'delete'].map(level => `private_files:${level}`)
  const made = await person.rest('POST', '/api/api_keys/private/create', {
    json: { name: 'sync', scopes },
  })
  const { key } = made.response.api_key
  const { send } = nextcloudClient(service, basic(person.email, key))
  const root = `/remote.php/dav/files/${person.email}`
  async function change(method: string, path: string, more: Parameters<typeof send>[2] = {}) {
    const { status } = await send(method, `${root}/${path}`, more)
    expect([method, path, status]).toEqual([method, path, 201])
  }
  const copy = (from: string, to: string) =>
    change('COPY', from, { headers: { destination: `${root}/${to}` } })
  await change('MKCOL', 'hundred')
  for (let i = 0; i < 100; i++) await change('PUT', `hundred/file ${i}.txt`, { body: `file ${i}` })
  await change('MKCOL', 'thousand')
  for (let i = 0; i < 10; i++) await copy('hundred', `thousand/${i}`)
  await change('MKCOL', 'many')
  for (let i = 0; i < FOLDERS; i++) await copy('thousand', `many/${i}`)
  const files = 100 + EACH + FOLDERS * EACH

  const [local, home] = [join(dir, 'local'), join(dir, 'home')]
  const client = {
    program: 'nextcloudcmd',
    url: service.url,
    email: person.email,
    key,
    local,
    home,
  } as const
  async function measured(title: string) {
    await sleep(100)
    service.markMemory()
    const [before, processor, start] = [service.said().length, service.processorTime(), Date.now()]
    await syncOnce(client)
    await sleep(100)
    const requests = requestsIn(service.said().slice(before))
    console.log(
      `${title} of ${files} files: ${requests.length} requests, ${(Date.now() - start) / 1000} s, ${Math.round(service.processorTime() - processor)} ms of processor time and up to ${Math.round(service.memory('VmHWM'))} MiB of memory of the service`,
    )
    return requests
  }
  await measured('First sync')
  expect([...localTree(local).keys()].filter(path => !path.endsWith('/'))).toHaveLength(files)
  expect(await measured('Sync without changes')).toHaveLength(QUIET.nextcloudcmd)

  // A change deep below is found on its path alone.
  const put = await send('PUT', `${root}/many/0/5/file%207.txt`, { body: 'changed' })
  expect(put.status).toBe(204)
  const requests = await measured('Sync of one change')
  expect(localTree(local, 'many/0/5/').get('many/0/5/file 7.txt')).toBe('changed')
  expect(requests.filter(({ method }) => method === 'PROPFIND')).toHaveLength(4)
}, 7_200_000)
