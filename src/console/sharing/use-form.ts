import { type FormEvent, useRef, useState } from 'react'

/** A form that is sent once at a time, and says beside its fields why the service has refused it. */
export function useForm(send: (form: FormData, element: HTMLFormElement) => Promise<void>) {
  const isBusy = useRef(false)
  const [problem, setProblem] = useState<string | null>(null)
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isBusy.current) return
    isBusy.current = true
    setProblem(null)
    const form = event.currentTarget
    send(new FormData(form), form)
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        isBusy.current = false
      })
  }
  return { onSubmit, problem }
}
