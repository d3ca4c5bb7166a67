import { createCRC32, createMD5, type IHasher } from 'hash-wasm'
import type { DigestAnswer, DigestCall } from './digest.ts'

/** Hashes files in a worker thread. The calls of each digest run in order. */
const running = new Map<number, { file: Blob; at: number; whole: IHasher }>()
const part = createCRC32()

async function answer(call: DigestCall): Promise<string | undefined> {
  if (call.kind === 'crc32') {
    const bytes = new Uint8Array(await call.bytes.arrayBuffer())
    return (await part).init().update(bytes).digest('hex')
  }
  if (call.kind === 'begin') {
    running.set(call.digest, { file: call.file, at: 0, whole: await createMD5() })
    return undefined
  }
  const state = running.get(call.digest)
  if (call.kind !== 'next') running.delete(call.digest)
  if (!state || call.kind === 'close') return undefined
  if (call.kind === 'end') return state.whole.digest('hex')
  const bytes = new Uint8Array(
    await state.file.slice(state.at, state.at + call.length).arrayBuffer(),
  )
  if (bytes.length < call.length) throw new Error('The file is shorter than it was.')
  state.at += bytes.length
  state.whole.update(bytes)
  return undefined
}

addEventListener('message', async ({ data: call }: MessageEvent<DigestCall>) => {
  let result: DigestAnswer
  try {
    result = { call: call.id, sum: await answer(call) }
  } catch (error) {
    result = { call: call.id, error: String(error) }
  }
  postMessage(result)
})
