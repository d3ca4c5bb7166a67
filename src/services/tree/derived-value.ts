import { z } from 'zod'
import { videoContainers } from '../../derive/outcome.ts'

/** The maximum length of the stored details of a picture, in characters of JSON. */
const MAX_DETAILS = 4096

/**
 * The values that a process reports about a picture. The process has read an untrusted file, so its
 * output is validated like any other input.
 */
export const pictureValue = z.object({
  width: z.int().min(1).max(1e6),
  height: z.int().min(1).max(1e6),
  orientation: z.int().min(1).max(8),
  placeholder: z.base64().max(64),
})
/**
 * The values from the metadata of a picture. They include the size even if sharp cannot decode the
 * picture.
 */
export const metadataValue = pictureValue
  .omit({ placeholder: true })
  .partial()
  .extend({
    takenAt: z.int().min(-1e13).max(1e13).optional(),
    details: z
      .record(z.string(), z.unknown())
      .refine(details => JSON.stringify(details).length <= MAX_DETAILS)
      .optional(),
  })
const words = z.string().max(200).optional().catch(undefined)
const amount = z.number().positive().max(1e9).optional().catch(undefined)
/** The details that clients may see. */
export const photoValue = z.object({
  camera: words,
  lens: words,
  exposureSeconds: amount,
  aperture: amount,
  iso: amount,
  focalLength: amount,
  zoneMinutes: z.int().min(-5999).max(5999).optional().catch(undefined),
  place: z
    .object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })
    .optional()
    .catch(undefined),
})

export const digestValue = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) })
/** The values that the process reports about a video. */
export const videoValue = z.object({ container: z.enum(videoContainers) })
/** The value of a HEIF picture, which another program decodes. */
export const heifValue = z.object({ format: z.literal('heif') })
