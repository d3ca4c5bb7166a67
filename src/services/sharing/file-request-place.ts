import type { FileRequest } from '../../../db/models/file-request.ts'
import { limits } from '../../values/paths.ts'
import { portableName } from '../archives/portable-name.ts'
import type { SenderIdentity } from './file-request-link.ts'

/** Longest name of a sender in a path, in characters. */
const LONGEST = 60

/** The name of a sender as a name in a path; empty if nothing is left of it. */
function nameInPath(name: string): string {
  const safe = portableName(name.replaceAll(/[/\uFFFD\uFEFF]/g, ' ').trim())
  return Array.from(safe).slice(0, LONGEST).join('').trim()
}

/** Where a file of a sender goes: the names below the folder of the request, and its own name. */
export function placeOfSender(
  { senderPlace }: Pick<FileRequest, 'senderPlace'>,
  { name }: Pick<SenderIdentity, 'name'>,
  fileName: string,
): { below: string[]; name: string } {
  const sender = senderPlace === 'none' ? '' : nameInPath(name)
  if (sender === '') return { below: [], name: fileName }
  if (senderPlace === 'folder') return { below: [sender], name: fileName }
  const prefixed = `${sender} - ${fileName}`
  // A name that would be too long stays as it was sent.
  return { below: [], name: Buffer.byteLength(prefixed) > limits.nameBytes ? fileName : prefixed }
}
