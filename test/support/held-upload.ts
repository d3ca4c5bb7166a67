import { driveOf } from './builders.ts'
import type { Person, RestAnswer, TestApp } from './harness.ts'
import { until } from './until.ts'
import { restUploader } from './uploader.ts'

/** An upload that the service has accepted, and that waits for its last bytes or its completion. */
export interface HeldUpload {
  finish(): Promise<{ status: number; code: string | undefined }>
}

interface Target {
  /** The workspace, or undefined for the caller's own files. */
  workspaceId?: string
  name: string
}

type Door = (t: TestApp, caller: Person, target: Target) => Promise<HeldUpload>

const CRLF = '\r\n'
const BOUNDARY = 'held'
export const field = (name: string, value: string) =>
  `--${BOUNDARY}${CRLF}content-disposition: form-data; name="${name}"${CRLF}${CRLF}${value}${CRLF}`
export const fileHead = (name: string, filename: string) =>
  `--${BOUNDARY}${CRLF}content-disposition: form-data; name="${name}"; filename="${filename}"${CRLF}content-type: text/plain${CRLF}${CRLF}`

const codeOf = ({ status, response }: RestAnswer) => ({
  status,
  code: response?.code as string | undefined,
})

/** Sends a form except for its end. The service has checked all permissions by then. */
export async function holdForm(
  t: TestApp,
  caller: Person,
  path: string,
  head: string,
): Promise<{ finish(): Promise<RestAnswer> }> {
  let end = () => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from(`${head}first half, `))
      end = () => {
        controller.enqueue(Buffer.from(`second half${CRLF}--${BOUNDARY}--${CRLF}`))
        controller.close()
      }
    },
  })
  t.statements()
  const seen: string[] = []
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  const answer = caller.rest('POST', path, { body, headers })
  await until(async () => {
    seen.push(...t.statements())
    return seen.some(sql => sql.includes(ENTERED))
  })
  return {
    finish() {
      end()
      return answer
    },
  }
}

/**
 * A form with its folder first looks up the folder before the bytes. After this statement,
 * everything else is checked.
 */
const ENTERED = 'LEFT JOIN entry'

/** Every way in which bytes become a file. */
export const doors: Record<string, Door> = {
  async 'a REST form'(t, caller, target) {
    const path = target.workspaceId
      ? `/api/workspaces/${target.workspaceId}/files/upload`
      : '/api/files/upload'
    const head = `${field('folder', 'held')}${fileHead('file', target.name)}`
    const held = await holdForm(t, caller, path, head)
    return { finish: async () => codeOf(await held.finish()) }
  },

  async 'a GraphQL form'(t, caller, target) {
    const query =
      'mutation ($input: UploadFileInput!) { uploadFile(input: $input) { file { id } } }'
    const drive = target.workspaceId ? await driveOf(caller, target.workspaceId) : undefined
    const input = { folder: { at: { drive, path: 'held' } }, file: null }
    const head = `${field('operations', JSON.stringify({ query, variables: { input } }))}${field('map', '{"0":["variables.input.file"]}')}${fileHead('0', target.name)}`
    const held = await holdForm(t, caller, '/graphql', head)
    return {
      async finish() {
        const { status, text } = await held.finish()
        return { status, code: JSON.parse(text).errors?.[0]?.extensions.code }
      },
    }
  },

  async 'the completion of parts'(t, caller, target) {
    const up = restUploader(caller, target.workspaceId)
    const { value } = await up.start({ filename: target.name, size: 5 })
    await up.part(value.upload_id, 1, { bytes: 'hello' })
    const { files } = t.app.services
    const original = files.refuseTaken
    let reach = () => {}
    let release = () => {}
    const reached = new Promise<void>(resolve => {
      reach = resolve
    })
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    files.refuseTaken = async (...args) => {
      files.refuseTaken = original
      reach()
      await released
      return original(...args)
    }
    const answer = up.complete(value.upload_id)
    await reached
    return {
      async finish() {
        release()
        const { status, code } = await answer
        return { status, code }
      },
    }
  },
}
