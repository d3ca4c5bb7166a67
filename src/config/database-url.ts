/** The URL of each server that a URL lists with commas between them; one for any other URL. */
export function serversOf(url: string): [first: string, ...others: string[]] {
  // A password may have commas, and the names of hosts no @ and no slash.
  const [, start = '', hosts, path = ''] = /^(mysql:\/\/(?:[^/]*@)?)([^@/]+)(\/.*)$/.exec(url) ?? []
  const [first, ...others] = (hosts?.split(',') ?? []).map(host => `${start}${host.trim()}${path}`)
  return first === undefined ? [url] : [first, ...others]
}
