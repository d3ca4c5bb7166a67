import { spawn } from 'node:child_process'

/**
 * What opens an address in the browser of the person, by platform; everywhere else it is xdg-open.
 */
const commands: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/**
 * Opens an address in the browser, without waiting for it.
 * @param onFailure called when there is no such program, or it fails
 */
export function openBrowser(url: string, onFailure: () => void): void {
  const [command, ...args] = commands[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.once('error', onFailure)
  child.once('exit', code => {
    if (code !== 0) onFailure()
  })
  child.unref()
}
