import { readFileSync } from 'node:fs'
import { codegen } from '@graphql-codegen/core'
import * as documentPlugin from '@graphql-codegen/typed-document-node'
import * as operationPlugin from '@graphql-codegen/typescript-operations'
import { parse } from 'graphql'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** The types and documents of `operations.graphql`, made from `schema/schema.graphql` alone, by GraphQL Code Generator. */
export async function generateClient(): Promise<string> {
  const code = await codegen({
    filename: 'generated.ts',
    schema: parse(read('../../schema/schema.graphql')),
    documents: [{ location: 'operations.graphql', document: parse(read('operations.graphql')) }],
    plugins: [{ operations: {} }, { documents: {} }],
    pluginMap: { operations: operationPlugin, documents: documentPlugin },
    config: {
      scalars: { DateTime: 'string', Labels: 'Record<string, string>', Long: 'number', Upload: 'File' },
      // A scalar that nobody has told the type of is a mistake.
      strictScalars: true,
      documentMode: 'string',
      useTypeImports: true,
    },
  })
  return `// Made by test/client/generate.ts. UPDATE_CLIENT=1 npm test -- unit/client makes it again.\n${code}`
}
