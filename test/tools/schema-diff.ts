import { execFileSync } from 'node:child_process'
import { CriticalityLevel, diff } from '@graphql-inspector/core'
import { buildSchema, type GraphQLSchema } from 'graphql'
import { printed } from '../../schema/print.ts'

/** The changes that clients notice, the worst first. */
const words = {
  [CriticalityLevel.Breaking]: 'breaking',
  [CriticalityLevel.Dangerous]: 'dangerous',
  [CriticalityLevel.NonBreaking]: 'compatible',
}

const git = (...args: string[]) =>
  execFileSync('git', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 26,
  })

/** The schema at a commit. Undefined if the commit does not exist. */
function schemaAt(revision: string): GraphQLSchema | undefined {
  try {
    return buildSchema(git('show', `${revision}:schema/schema.graphql`), { assumeValidSDL: true })
  } catch {
    return undefined
  }
}

// As a program: npm run schema:diff -- [REVISION]. It only reports changes: people decide what may
// break.
const [revision = 'HEAD^'] = process.argv.slice(2)
const before = schemaAt(revision)
if (before) {
  const changes = await diff(before, buildSchema(printed))
  const told = changes.filter(({ type }) => !type.includes('DESCRIPTION'))
  for (const [level, word] of Object.entries(words)) {
    const ofLevel = told.filter(({ criticality }) => criticality.level === level)
    for (const { message } of ofLevel) console.log(`${word}: ${message}`)
  }
  console.log(
    `The schema has ${told.length} changes since ${revision}, without those of descriptions.`,
  )
} else console.log(`There is no schema at ${revision} to compare with.`)
