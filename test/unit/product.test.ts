import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { productOf } from '../../db/product.ts'

describe('The product of a database server', () => {
  it.each([
    ['9.7.4-2', 'MySQL 9.7.4'],
    ['8.4.6', 'MySQL 8.4.6'],
    ['10.11.19-MariaDB-0+deb12u1', 'MariaDB 10.11.19'],
    ['5.5.5-10.6.18-MariaDB-log', 'MariaDB 10.6.18'],
    ['8.0.30-Vitess', 'Vitess 8.0.30'],
    ['8.0.11-TiDB-v8.5.0', 'TiDB 8.5.0'],
  ])('with the version %s is %s', (version, name) => {
    expect(productOf(version)).toBe(name)
  })
})

describe('SQL statements', () => {
  it('use no word that only MySQL reserves as a column name', () => {
    // https://dev.mysql.com/doc/refman/9.7/en/keywords.html, without the reserved words of MariaDB.
    const reserved =
      /\bAS (cube|cume_dist|dense_rank|empty|first_value|function|grouping|groups|json_table|lag|last_value|lateral|lead|library|manual|nth_value|ntile|of|parallel|percent_rank|qualify|rank|row|row_number|system|tablesample|window)\b/
    const files = readdirSync('db', { recursive: true, encoding: 'utf8' })
    expect(
      files
        // The search index is always a file of SQLite.
        .filter(file => file.endsWith('.ts') && !file.startsWith('search/'))
        .filter(file => reserved.test(readFileSync(`db/${file}`, 'utf8'))),
    ).toEqual([])
  })
})
