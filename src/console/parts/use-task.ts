import { useRef, useState } from 'react'

/** Does one thing at a time for a person, and keeps what has gone wrong, to be shown where they asked for it. */
export function useTask() {
  const isRunning = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  /** Answers whether it was done. */
  async function run(work: () => Promise<unknown>): Promise<boolean> {
    if (isRunning.current) return false
    isRunning.current = true
    setBusy(true)
    setProblem('')
    try {
      await work()
      return true
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      return false
    } finally {
      isRunning.current = false
      setBusy(false)
    }
  }
  return { isBusy, problem, run }
}
