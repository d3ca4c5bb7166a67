import { type FormEvent, useRef, useState } from 'react'

/**
 * Does one thing at a time for a person, and keeps what has gone wrong, to be shown where they
 * asked for it.
 */
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
  /** For a form: does something with what is filled in. */
  const submit =
    (work: (form: FormData, element: HTMLFormElement) => Promise<unknown>) =>
    (event: FormEvent<HTMLFormElement>) => {
      event.preventDefault()
      const { currentTarget } = event
      void run(() => work(new FormData(currentTarget), currentTarget))
    }
  return { isBusy, problem, run, submit }
}
