/** Returns one URL per server that a URL lists, separated by commas. Any other URL gives itself. */
export function serversOf(url: string): [first: string, ...others: string[]] {
  // A password may contain commas. Host names contain neither @ nor slashes.
  const [, start = '', hosts, path = ''] = /^(mysql:\/\/(?:[^/]*@)?)([^@/]+)(\/.*)$/.exec(url) ?? []
  const [first, ...others] = (hosts?.split(',') ?? []).map(host => `${start}${host.trim()}${path}`)
  return first === undefined ? [url] : [first, ...others]
}
