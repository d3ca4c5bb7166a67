/** The wire writes snake_case, GraphQL camelCase: `md5Checksum` is `md5_checksum`, `last7d` would be `last_7d`. */
export const toSnake = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/(?<=[a-z])(\d+[a-z])$/, '_$1')
    .toLowerCase()
