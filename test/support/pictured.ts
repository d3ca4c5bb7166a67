import type { RestAnswer, TestApp } from './harness.ts'
import { until } from './until.ts'

/** A picture of one pixel. */
export const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

/** Uploads a file, and waits for its preview. Returns the id of the file. Requires PREVIEWS. */
export async function pictured(
  { app }: Pick<TestApp, 'app'>,
  uploading: Promise<RestAnswer>,
): Promise<string> {
  const { db } = app
  const { response } = await uploading
  const fileId: string = (response.file ?? response[0]).id
  const [file] = await db.rows<{ blobId: string; fileType: string }>(
    'SELECT blob_id AS blobId, file_type AS fileType FROM entry WHERE id = ?',
    [fileId],
  )
  if (!file) throw new Error(`There is no file ${fileId}.`)
  await app.services.previews.make(file, { attempts: 1, requireRunning() {} })
  // Another process may be rendering it.
  await until(async () => {
    const sql =
      "SELECT b.id FROM blobs b JOIN preview p ON p.digest = b.sha256 AND p.state = 'made' WHERE b.id = ?"
    return (await db.rows(sql, [file.blobId])).length === 1
  })
  return fileId
}
