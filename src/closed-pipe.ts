/** Ends the process quietly when the reader of its output ends first, as `head` does: otherwise EPIPE is an uncaught error. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}
