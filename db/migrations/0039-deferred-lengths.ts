import { addColumn, type Migration } from '../migration.ts'

/** Lets tus uploads begin before their length is known. */
export const deferredLengths: Migration = {
  name: '0039-deferred-lengths',

  up: context =>
    addColumn(context, 'upload_stream', 'is_deferred', {
      sqlite: 'TINYINT(1) NOT NULL DEFAULT 0',
      mysql: 'TINYINT(1) NOT NULL DEFAULT 0',
    }),
}
