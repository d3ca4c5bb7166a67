/** Sources of the uploader of file requests, in the same form as below. */
export const pageSources = [
  'src/pages/sender',
  'src/pages/build',
  'src/language',
  'src/formats',
  'src/documents',
  'src/renderers',
  'src/upload-engine',
  'package-lock.json',
]

/** Sources of the console: files, and folders with their contents. */
export const sources = [
  'src/console',
  'src/language',
  'src/formats',
  'src/documents',
  'src/renderers',
  'src/upload-engine',
  'src/pages/views/tokens.css',
  'schema/schema.graphql',
  'package-lock.json',
]
