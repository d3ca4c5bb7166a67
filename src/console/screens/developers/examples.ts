import { text } from './text.ts'

export interface Example {
  title: string
  /** A shell command. */
  command: string
}

const KEY = '"X-API-Key: $SATCHEL_KEY"'
const query = '{ me { drive { root { entries(first: 20) { nodes { name size } } } } } }'

/**
 * Commands that work as they are, given a key that may read and write files.
 *
 * @param origin of the service
 */
export const examplesAt = (origin: string): Example[] => [
  { title: text('exampleKey'), command: 'export SATCHEL_KEY=satchel_...' },
  { title: text('exampleList'), command: `curl -H ${KEY} ${origin}/api/files/tree` },
  {
    title: text('exampleUpload'),
    command: `curl -H ${KEY} -F folder=documents -F file=@report.pdf ${origin}/api/files/upload`,
  },
  {
    title: text('exampleGraphql'),
    command: `curl -H ${KEY} -H 'Content-Type: application/json' -d '${JSON.stringify({ query })}' ${origin}/graphql`,
  },
]
