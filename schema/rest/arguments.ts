import { InvalidInput } from '../../src/runtime/errors.ts'
import { figure, MAX_MESSAGE, MAX_PAGE } from '../../src/values/limits.ts'
import { onConflicts } from '../../src/values/on-conflict.ts'
import type { Argument } from './builder.ts'

/** Arguments that mean the same in every operation. */
export const limitOf = (what: string) => ({
  description: `${what} of a page; ${figure(MAX_PAGE)} by default.`,
  example: 100,
  bounds: { minimum: 1, maximum: MAX_PAGE },
})
export const limit = limitOf('Entries')

export const cursor = { description: 'Where to continue: the `next_cursor` of the previous page.' }

/** The arguments that select a page of a list. */
export const paged = (arg: Argument) => ({ cursor: arg.string(cursor), limit: arg.int(limit) })

export const modifiedAt = (arg: Argument) =>
  arg({
    type: 'DateTime',
    description:
      'When the file was last modified on its computer; by default, the time of its upload.',
    example: '2024-05-01T12:00:00.000Z',
  })

export const onConflict = {
  description: 'What to do if the name is taken; fail by default.',
  example: 'keep_both',
  bounds: { enum: onConflicts },
}

/** The sender's message in a mail. */
export const mailMessage = {
  description: `A message for the mail, up to ${figure(MAX_MESSAGE)} characters. It is not stored.`,
  example: 'As we said on the phone.',
}

/** The ETag that the client has seen. A route with this argument may also answer 412. */
export const ifMatch = {
  description:
    'The expected ETag of the file or folder. It is changed only if it still has this ETag (RFC 9110).',
  example: '"7"',
}

export const prefer = {
  description:
    '`respond-async`: return 202 if the operation takes long; `wait=`: after this many seconds, 0 to 10, 2 by default (RFC 7240).',
  example: 'respond-async, wait=5',
}

export const mode = {
  description: 'Save the file (the default), or show it if that is safe.',
  example: 'download',
  bounds: { enum: ['download', 'inline'] },
}

/** The arguments of a move to another path. */
export const move = (arg: Argument, examples: { source: string; destination: string }) => ({
  if_match: arg.string(ifMatch),
  on_conflict: arg.string(onConflict),
  destination: arg.string({
    required: true,
    description: 'Full path, with the new name.',
    example: examples.destination,
  }),
  source: arg.string({ required: true, description: 'Full path.', example: examples.source }),
})

/**
 * The terms of a link that can be removed. Omitted arguments change nothing, so removing needs its
 * own argument.
 * @param inputs the service's names of the terms, by their names on the wire
 */
export function clearable<Input extends string>(inputs: Record<string, Input>) {
  const names = Object.keys(inputs)
  return {
    argument: (arg: Argument) =>
      arg.stringList({
        maxItems: names.length,
        description: `The terms to remove, up to ${names.length} of: ${names.join(', ')}.`,
        example: ['password'],
      }),

    /** @throws INVALID_INPUT */
    read(given: readonly string[] | null | undefined): { [Name in Input]?: null } {
      const cleared = (given ?? []).map(name => {
        const input = inputs[name]
        if (input === undefined)
          throw new InvalidInput('clear', `Only these terms can be removed: ${names.join(', ')}.`)
        return [input, null]
      })
      return Object.fromEntries(cleared) as { [Name in Input]?: null }
    },
  }
}
