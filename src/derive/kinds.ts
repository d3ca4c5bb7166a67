import type { Work } from './outcome.ts'

/**
 * The kinds of jobs. A process loads the module of a kind with its first job. The service never
 * loads it.
 */
export const kinds = {
  digest: () => import('./kinds/digest.ts'),
  metadata: () => import('./kinds/metadata.ts'),
  picture: () => import('./kinds/picture.ts'),
  text: () => import('./kinds/text.ts'),
} satisfies Record<string, () => Promise<{ work: Work }>>

export type Kind = keyof typeof kinds
