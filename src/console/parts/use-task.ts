import { type FormEvent, useRef, useState } from 'react'

/** Runs one action at a time, and keeps its error for display. */
export function useTask() {
  const isRunning = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  /** Returns whether the action succeeded. */
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
  /** Makes a submit handler that runs an action with the form data. */
  const submit =
    (work: (form: FormData, element: HTMLFormElement) => Promise<unknown>) =>
    (event: FormEvent<HTMLFormElement>) => {
      event.preventDefault()
      const { currentTarget } = event
      void run(() => work(new FormData(currentTarget), currentTarget))
    }
  return { isBusy, problem, run, submit }
}
