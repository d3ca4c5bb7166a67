import { spawn } from 'node:child_process'

/** The command that opens a URL in the browser, by platform. The default is xdg-open. */
const commands: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/**
 * Opens a URL in the browser, without waiting.
 * @param onFailure called if the program is missing or fails
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
