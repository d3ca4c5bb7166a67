import { readFileSync } from 'node:fs'
import { codegen } from '@graphql-codegen/core'
import * as documentPlugin from '@graphql-codegen/typed-document-node'
import * as operationPlugin from '@graphql-codegen/typescript-operations'
import { parse } from 'graphql'
import { strictSchema } from '../../src/console/build/strict-schema.ts'

const read = (file: URL) => readFileSync(file, 'utf8')

/**
 * Client folders in this project. Each `generated.ts` is generated from its `operations.graphql`.
 */
export const clients = ['test/client', 'test/clients', 'src/cli']

/**
 * Generates the types and documents of `operations.graphql` from `schema/schema.graphql` alone,
 * with GraphQL Code Generator.
 */
export async function generateClient(folder: string): Promise<string> {
  const operations = read(new URL(`../../${folder}/operations.graphql`, import.meta.url))
  const code = await codegen({
    filename: 'generated.ts',
    // All of these clients throw errors.
    schema: strictSchema(),
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
      // A scalar without a configured type is a mistake.
      strictScalars: true,
      documentMode: 'string',
      useTypeImports: true,
    },
  })
  return `// Made by test/client/generate.ts. npm run update makes it again.\n${code}`
}
