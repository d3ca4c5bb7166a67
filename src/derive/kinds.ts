import type { Work } from './outcome.ts'

/**
 * The kinds of jobs. Each is loaded by the process that does the first job of it, and never by the
 * service.
 */
export const kinds = {
  digest: () => import('./kinds/digest.ts'),
  picture: () => import('./kinds/picture.ts'),
  text: () => import('./kinds/text.ts'),
} satisfies Record<string, () => Promise<{ work: Work }>>

export type Kind = keyof typeof kinds
