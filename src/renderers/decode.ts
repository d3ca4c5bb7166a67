const marks: [mark: number[], encoding: string][] = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xef, 0xbb, 0xbf], 'utf-8'],
]

/**
 * Decodes text by its byte order mark, else by the media type, else as UTF-8.
 *
 * @param bytes the beginning of a file; an incomplete character at the end is dropped
 */
export function decode(bytes: Uint8Array, contentType: string): string {
  const [, charset = 'utf-8'] = /;\s*charset="?([\w:.+-]+)/i.exec(contentType) ?? []
  const [, marked] = marks.find(([mark]) => mark.every((byte, at) => bytes[at] === byte)) ?? []
  return decoderOf(marked ?? charset).decode(bytes, { stream: true })
}

function decoderOf(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding)
  } catch {
    return new TextDecoder()
  }
}
