import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

interface Site {
  /** An empty folder. */
  dir: string
  /** The host name of the site. */
  host: string
  /** The port of the site on 127.0.0.1. */
  port: number
  /** The host and port of the service. */
  inner: string
  /** PEM files. */
  cert: string
  key: string
}

/** Starts nginx with docker/nginx.conf for its own site. */
export async function startNginx({
  dir,
  host,
  port,
  inner,
  cert,
  key,
}: Site): Promise<ChildProcess> {
  const replacements: [RegExp, string][] = [
    [/server 127\.0\.0\.1:8080/, `server ${inner}`],
    [/\/etc\/ssl\/files\.example\.com\/fullchain\.pem/, cert],
    [/\/etc\/ssl\/files\.example\.com\/privkey\.pem/, key],
    [/files\.example\.com/g, host],
    [/\tlisten \[::\].*\n/g, ''],
    [/listen 80;/, `listen 127.0.0.1:${await freePort()};`],
    [/listen 443 /, `listen 127.0.0.1:${port} `],
  ]
  let site = readFileSync('docker/nginx.conf', 'utf8')
  for (const [pattern, text] of replacements) {
    if (site.search(pattern) < 0) throw new Error(`docker/nginx.conf has no ${pattern}.`)
    site = site.replace(pattern, text)
  }
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  for (const name of folders) mkdirSync(join(dir, name))
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; ${process.getuid?.() === 0 ? 'user root; ' : ''}pid ${dir}/pid; error_log stderr;
    events {} http { access_log off; ${folders.map(name => `${name}_temp_path ${dir}/${name};`).join(' ')}
    ${site} }`,
  )
  return spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
