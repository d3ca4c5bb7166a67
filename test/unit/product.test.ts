import { describe, expect, it } from '@jest/globals'
import { productOf } from '../../db/product.ts'

describe('The name of a database server', () => {
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
