import { addColumn, type Migration } from '../migration.ts'

/** Adds the drive and the size of each dead property, so that a drive can be bounded. */
export const davPropertyBytes: Migration = {
  name: '0052-dav-property-bytes',

  async up(context) {
    const { db, transaction } = context
    await addColumn(context, 'dav_property', 'bucket_id', {
      sqlite: "VARCHAR(36) NOT NULL DEFAULT ''",
      mysql: "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''",
    })
    await addColumn(context, 'dav_property', 'bytes', {
      sqlite: 'INTEGER NOT NULL DEFAULT 0',
      mysql: `INTEGER NOT NULL DEFAULT 0,
        ADD INDEX dav_property_bucket_id_bytes (bucket_id, bytes)`,
    })
    if (db.dialect === 'sqlite')
      await db.run(
        `CREATE INDEX IF NOT EXISTS dav_property_bucket_id_bytes
          ON dav_property (bucket_id, bytes)`,
        [],
        transaction,
      )
    await db.run(
      `UPDATE dav_property
       SET bucket_id = (SELECT e.bucket_id FROM entry e WHERE e.id = dav_property.entry_id),
         bytes = OCTET_LENGTH(content)
       WHERE bucket_id = ''`,
      [],
      transaction,
    )
  },
}
