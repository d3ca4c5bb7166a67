import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found, put } from '../../support/builders.ts'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'

let t: TestApp
let alice: Person
let shell: Shell

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  shell = openWarmShell({
    SATCHEL_URL: t.url,
    SATCHEL_SESSION: alice.cookie.replace('session_id=', ''),
  })
  await alice.rest('POST', '/api/folders', { json: { path: 'in/bills' } })
})
afterAll(async () => {
  shell?.close()
  await t.stop()
})

const info = async (token: string) =>
  (await t.anonymous.rest('GET', `/api/request/${token}`)).response

describe('satchel request', () => {
  it('prints only the link, and takes its name from the folder', async () => {
    const { out } = await shell.satchel(['request', 'in/bills'])
    expect(out).toMatch(/^https?:\/\/[^/]+\/request\/[\w-]+\n$/)
    expect(await info(out.trim().split('/').at(-1) ?? '')).toMatchObject({
      label: 'bills',
      asks_name: false,
      kinds: [],
    })
  })

  it('creates a request with all options, also for a folder of a workspace', async () => {
    const garden = await found(alice)
    await put(alice, garden, 'in/a.txt')
    const made = await shell.json(
      ...[
        'request',
        'garden:/in',
        '--label',
        'Pictures',
        '--message',
        'All of them',
        '--expires',
        'never',
      ],
      ...[
        '--max-files',
        '3',
        '--max-size',
        '20M',
        '--max-total',
        '1G',
        '--kind',
        '.pdf',
        '--kind',
        'image/*',
        '--ask-name',
      ],
    )
    expect(made).toMatchObject({
      label: 'Pictures',
      folder: '/in',
      state: 'open',
      expires_at: null,
      max_files: 3,
      max_file_size: 20 * 1024 ** 2,
      max_bytes: 1024 ** 3,
    })
    expect(await info(made.token)).toMatchObject({
      message: 'All of them',
      kinds: ['.pdf', 'image/*'],
      asks_name: true,
    })
  })

  it('reads a password', async () => {
    const { out } = await shell.satchel(['request', 'in', '--password'], { stdin: 'open sesame\n' })
    const token = out.trim().split('/').at(-1) ?? ''
    const json = { password: 'open sesame' }
    expect((await t.anonymous.rest('POST', `/api/request/${token}/enter`, { json })).status).toBe(
      200,
    )
  })

  it.each<[number, string, string[]]>([
    [2, 'USAGE', ['in', '--max-size', 'large']],
    [2, 'USAGE', ['in', '--expires', 'soon']],
    [2, 'INVALID_INPUT', ['in', '--kind', 'pdf']],
    [4, 'FOLDER_NOT_FOUND', ['nowhere']],
  ])('exits with %i %s for %j', async (exit, code, args) => {
    expect(await shell.refused('request', ...args)).toMatchObject({ code: exit, error: { code } })
  })
})

describe('satchel edit-request', () => {
  it('changes a request, and keeps its link', async () => {
    const made = await shell.json(
      'request',
      'in',
      '--label',
      'one',
      '--max-files',
      '2',
      '--kind',
      '.pdf',
      '--ask-name',
    )
    const edit = (...options: string[]) => shell.json('edit-request', made.link, ...options)
    expect(
      await edit(
        '--label',
        'two',
        '--message',
        'All',
        '--expires',
        'never',
        '--max-size',
        '1M',
        '--any-kind',
      ),
    ).toMatchObject({
      id: made.id,
      link: made.link,
      label: 'two',
      expires_at: null,
      max_files: 2,
      max_file_size: 1024 ** 2,
    })
    expect(await info(made.token)).toMatchObject({
      label: 'two',
      message: 'All',
      kinds: [],
      asks_name: true,
    })
    expect(
      await edit('--no-max-files', '--no-max-size', '--no-ask-name', '--max-total', '2M'),
    ).toMatchObject({
      max_files: null,
      max_file_size: null,
      max_bytes: 2 * 1024 ** 2,
      label: 'two',
    })
    expect(await info(made.token)).toMatchObject({ asks_name: false, message: 'All' })
    const { out } = await shell.satchel(['edit-request', made.token, '--password'], {
      stdin: 'open sesame\n',
    })
    expect(out.trim()).toBe(made.link)
    const json = { password: 'open sesame' }
    expect(
      (await t.anonymous.rest('POST', `/api/request/${made.token}/enter`, { json })).status,
    ).toBe(200)
    expect(await edit('--no-password')).toMatchObject({ password_protected: false })
  })

  it.each<[number, string, string[]]>([
    [2, 'USAGE', []],
    [2, 'USAGE', ['--kind', '.pdf', '--any-kind']],
    [2, 'INVALID_INPUT', ['--label', '']],
    [4, 'NOT_FOUND', ['--label', 'x']],
  ])('exits with %i %s for %j', async (exit, code, args) => {
    const { link } = await shell.json('request', 'in', '--label', 'refused')
    const named = code === 'NOT_FOUND' ? `${link}x` : link
    expect(await shell.refused('edit-request', named, ...args)).toMatchObject({
      code: exit,
      error: { code },
    })
  })
})

describe('satchel requests and close-request', () => {
  it('list requests with their received files, and close one', async () => {
    const { token, link } = await shell.json(
      'request',
      'in',
      '--label',
      'To be closed',
      '--max-files',
      '2',
    )
    const form = new FormData()
    form.append('file', new Blob(['hello']), 'a.txt')
    await t.anonymous.rest('POST', `/api/request/${token}/upload`, { form })
    const { out } = await shell.satchel(['requests'])
    expect(out).toMatch(/LABEL +FOLDER +STATE +FILES +SIZE +UNTIL +LINK/)
    expect(out).toMatch(/To be closed +in +open +1 of 2 +5 B/)
    expect(await shell.json('close-request', link)).toEqual({ closed: [token] })
    const { file_requests } = await shell.json('requests')
    expect(file_requests.map((one: { token: string }) => one.token)).not.toContain(token)
    expect((await info(token)).code).toBe('FILE_REQUEST_CLOSED')
    expect(await shell.refused('close-request', token)).toMatchObject({
      code: 4,
      error: { code: 'NOT_FOUND' },
    })
  })
})
