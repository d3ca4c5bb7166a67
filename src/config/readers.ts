import { z } from 'zod'

/** Parsers for setting values. */
export const flag = z.enum(['true', 'false']).transform(v => v === 'true')
export const count = (min: number, max: number) => z.coerce.number().int().min(min).max(max)
export const list = z.string().transform(v =>
  v
    .split(',')
    .map(s => s.trim())
    .filter(Boolean),
)
export const origin = z
  .url({ protocol: /^https?$/ })
  .transform(v => new URL(v))
  .refine(
    ({ href, origin }) => href === `${origin}/`,
    'must be a scheme and a host, without a path',
  )
  .transform(url => url.origin)
