/** What the script of file requests is made of, as below. */
export const pageSources = [
  'src/pages/sender',
  'src/pages/build',
  'src/renderers',
  'src/upload-engine',
  'package-lock.json',
]

/** What the console is made of: files, and folders with all that is in them. */
export const sources = [
  'src/console',
  'src/renderers',
  'src/upload-engine',
  'src/pages/views/tokens.css',
  'schema/schema.graphql',
  'package-lock.json',
]
