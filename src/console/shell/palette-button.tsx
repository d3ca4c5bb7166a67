import { lazy, Suspense, useEffect, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { hearEarlyKeys } from '../parts/early-keys.ts'
import { Command } from '../parts/icons.ts'
import type { Me } from './me.ts'
import { text } from './text.ts'

const Palette = lazy(() =>
  import('../palette/palette.tsx').then(({ Palette }) => ({ default: Palette })),
)

/** Opens the command palette, like Ctrl-K and Cmd-K. */
export function PaletteButton({ me }: { me: Me | undefined }) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const toggle = (event: KeyboardEvent) => {
      if (
        event.key.toLowerCase() !== 'k' ||
        !(event.ctrlKey || event.metaKey) ||
        event.shiftKey ||
        event.altKey
      )
        return
      event.preventDefault()
      setOpen(now => !now)
    }
    document.addEventListener('keydown', toggle)
    hearEarlyKeys(toggle)
    return () => document.removeEventListener('keydown', toggle)
  }, [])
  // Early key presses wait until the person is loaded.
  if (!me) return null
  return (
    <>
      <Button
        className="palette-button"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onPress={() => setOpen(true)}
      >
        <Command aria-hidden />
        <span>{text('palette')}</span>
        <kbd aria-hidden>Ctrl K</kbd>
      </Button>
      {isOpen && (
        <Suspense>
          <Palette me={me} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
