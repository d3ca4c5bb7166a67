import { useEffect } from 'react'
import { shownText } from '../../renderers/shown-text.ts'
import { brand } from './brand.ts'

/** Sets the page title, most specific part first: `API keys · Account · Satchel`. */
export function useTitle(...parts: (string | null | undefined)[]): void {
  const title = shownText([...parts.filter(Boolean), brand.name].join(' · '))
  useEffect(() => {
    const before = document.title
    document.title = title
    return () => {
      document.title = before
    }
  }, [title])
}
