/** Whether a process exists on this machine, even one of another user; none has no id. */
export function isRunning(pid: number | null): boolean {
  if (pid === null || !Number.isInteger(pid) || pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
