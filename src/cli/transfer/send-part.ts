import type { Attempt, Part } from '../../upload-engine/job.ts'
import type { Client } from '../client.ts'
import { SendPartDocument } from '../generated.ts'
import { framed, observed } from './body.ts'
import { formOf } from './form.ts'
import type { Body } from './local-file.ts'

/** Sends a part of an upload, and resolves to the CRC-32 of the stored bytes. */
export type SendPart = (
  uploadId: string,
  part: Part<Body>,
  attempt: Attempt,
) => Promise<string | undefined>

/**
 * Sends parts to the REST upload routes of a drive.
 *
 * @param route of its files
 */
export const partByRoute =
  (client: Client, route: string): SendPart =>
  async (uploadId, { number, size, body }, { signal, sent }) => {
    const { crc32 } = await client.rest<{ crc32?: string }>(
      `${route}/uploads/${uploadId}/parts/${number}`,
      {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
        body: observed(body, sent),
        signal,
        limitMs: undefined,
      },
    )
    return crc32
  }

/**
 * Sends parts as GraphQL multipart requests, because REST has no route for uploads into a share.
 */
export const partByGraph =
  (client: Client): SendPart =>
  async (uploadSession, { number, size, body }, { signal, sent }) => {
    const variables = { input: { uploadSession, number, part: null } }
    const fields = {
      operations: JSON.stringify({ query: String(SendPartDocument), variables }),
      map: JSON.stringify({ part: ['variables.input.part'] }),
    }
    const { type, head, tail } = formOf(fields, { field: 'part', name: String(number) })
    const { uploadPart } = await client.form(SendPartDocument, {
      headers: { 'content-type': type, 'content-length': String(head.length + size + tail.length) },
      body: framed(head, observed(body, sent), tail),
      signal,
      limitMs: undefined,
    })
    return uploadPart?.crc32
  }
