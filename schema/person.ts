import type { PersonView } from '../db/queries/person.ts'
import { AppError } from '../src/runtime/errors.ts'
import { batch, batchSeen } from './batch.ts'
import { builder, type ObjectFields } from './builder.ts'
import type { Context } from './context.ts'
import { findable, Node } from './node.ts'

export const Person = builder.objectRef<PersonView>('Person').implement({
  description: 'The public details of a user.',
  interfaces: [Node],
  fields: t => ({
    name: t.exposeString('name', { description: 'The name stated by their provider.' }),
    email: t.exposeString('email', { description: 'Their e-mail address.' }),
    picture: t.field({
      type: 'URL',
      nullable: true,
      description: 'A picture of them.',
      resolve: person => person.picture || null,
    }),
  }),
})

const persons = batch(({ services }, ids) => services.persons.byIds(ids))
const known = batchSeen(({ persons }, caller, ids) => persons.knownAmong(caller, ids))

/** A person in data that the caller may see. Null if there is none, or if the account is gone. */
export const personOf = async (context: Context, id: string | null): Promise<PersonView | null> =>
  (id === null ? undefined : await persons(context, id)) ?? null

/**
 * A field for a person in data that the caller may see. Null if there is none, or if the account is
 * gone.
 */
export const personField = <Parent extends object>(
  t: ObjectFields<Parent>,
  description: string,
  idOf: (parent: Parent) => string | null,
) =>
  t.field({
    type: Person,
    nullable: true,
    description,
    resolve: (parent: Parent, _args: object, context: Context) => personOf(context, idOf(parent)),
  })

/**
 * Like `personOf`, for a person whose account still exists.
 * @throws USER_NOT_FOUND if the account is deleted meanwhile
 */
export async function existingPerson(context: Context, id: string): Promise<PersonView> {
  const person = await personOf(context, id)
  if (!person) throw new AppError('USER_NOT_FOUND', "This person's account was deleted meanwhile.")
  return person
}

// The scopes of a key decide what it sees of members. They are checked with the workspace.
findable('user', 'Person', async (context, caller, id) =>
  caller.via === 'session' || id === caller.userId ? known(context, id) : null,
)
