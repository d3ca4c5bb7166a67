/**
 * Reads the first bytes of a stream.
 * @param count how many bytes; a shorter stream is read to its end
 * @returns these bytes, and a source of the whole stream, which can be read once
 */
export async function peek(
  stream: AsyncIterable<Uint8Array>,
  count: number,
): Promise<{ start: Uint8Array; source: AsyncIterable<Uint8Array> }> {
  const chunks: Uint8Array[] = []
  const rest = stream[Symbol.asyncIterator]()
  for (let length = 0; length < count; length += chunks.at(-1)?.length ?? 0) {
    const { done, value } = await rest.next()
    if (done) break
    chunks.push(value)
  }
  const start = Buffer.concat(chunks.map(chunk => chunk.subarray(0, count))).subarray(0, count)
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const value = chunks.shift()
      return value ? { done: false, value } : rest.next()
    },
    return: async value => (await rest.return?.(value)) ?? { done: true, value },
  }
  return { start, source: { [Symbol.asyncIterator]: () => iterator } }
}
