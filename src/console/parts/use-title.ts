import { useEffect } from 'react'

/** Says in the title of the page what is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Satchel`
  }, [title])
}
