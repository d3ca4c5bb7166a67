import { readFileSync } from 'node:fs'
import { codegen } from '@graphql-codegen/core'
import * as documentPlugin from '@graphql-codegen/typed-document-node'
import * as operationPlugin from '@graphql-codegen/typescript-operations'
import { parse } from 'graphql'

const schema = new URL('../../schema/schema.graphql', import.meta.url)
const read = (file: URL) => readFileSync(file, 'utf8')

/**
 * Folders of this project that hold a client: their `generated.ts` follows from their
 * `operations.graphql`.
 */
export const clients = ['test/client', 'test/clients', 'src/cli']

/**
 * The types and documents of `operations.graphql`, made from `schema/schema.graphql` alone, by
 * GraphQL Code Generator.
 */
export async function generateClient(folder: string): Promise<string> {
  const operations = read(new URL(`../../${folder}/operations.graphql`, import.meta.url))
  const code = await codegen({
    filename: 'generated.ts',
    schema: parse(read(schema)),
    documents: [{ location: 'operations.graphql', document: parse(operations) }],
    plugins: [{ operations: {} }, { documents: {} }],
    pluginMap: { operations: operationPlugin, documents: documentPlugin },
    config: {
      scalars: {
        Bytes: 'number',
        DateTime: 'string',
        URL: 'string',
        Upload: 'File',
        Figures: '(number | null)[]',
      },
      // A scalar that no one has told the type of is a mistake.
      strictScalars: true,
      documentMode: 'string',
      useTypeImports: true,
    },
  })
  return `// Made by test/client/generate.ts. npm run update makes it again.\n${code}`
}
