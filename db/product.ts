/** Products that speak the protocol of MySQL and name themselves in their version. */
const OTHERS = ['MariaDB', 'Vitess']

/**
 * Names the product and its version, such as "MySQL 9.7.4" and "MariaDB 10.11.19".
 * @param version what a server returns for VERSION(), such as 9.7.4-2 and
 * 10.11.19-MariaDB-0+deb12u1
 */
export function productOf(version: string): string {
  const product = OTHERS.find(name => version.toLowerCase().includes(name.toLowerCase()))
  // Follows the version of MySQL with which it is compatible.
  const [, ofTidb] = /TiDB-v(\d+\.\d+\.\d+)/.exec(version) ?? []
  if (ofTidb) return `TiDB ${ofTidb}`
  // Some versions of MariaDB begin with a MySQL version that old drivers accept.
  const [number = version] = /\d+\.\d+(\.\d+)?/.exec(version.replace(/^5\.5\.5-/, '')) ?? []
  return `${product ?? 'MySQL'} ${number}`
}
