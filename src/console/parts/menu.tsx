import { lazy, type ReactNode, type RefObject, Suspense, useEffect, useRef, useState } from 'react'
import { Button, type ButtonLooks } from './button.tsx'
import type { MenuProps, OpenMenu } from './menu-entry.ts'

export type { MenuEntry, MenuProps, OpenMenu } from './menu-entry.ts'

/** The menu code loads after the page has settled, because the first view does not need it. */
const load = () => import('./popover-menu.tsx')
const PopoverMenu = lazy(() => load().then(({ PopoverMenu }) => ({ default: PopoverMenu })))

/** Preloads the menu code. */
export const preloadMenus = (): void => void setTimeout(() => void load(), 1500)

/** A button with a menu. */
export const Menu = ({
  children,
  button,
  ...menu
}: MenuProps & { children: ReactNode; button?: ButtonLooks }) => (
  <MenuButton
    label={menu.label}
    button={button}
    opened={open => <PopoverMenu {...menu} {...open} />}
  >
    {children}
  </MenuButton>
)

interface MenuButtonProps {
  label: string
  button?: ButtonLooks
  /** The menu itself. */
  opened: (open: OpenMenu) => ReactNode
  children: ReactNode
}

/** A button whose menu loads when it opens. */
export function MenuButton({ label, button, opened, children }: MenuButtonProps) {
  const trigger = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        {...button}
        ref={trigger}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPress={() => setOpen(true)}
        onHoverStart={() => void load()}
      >
        {children}
      </Button>
      {isOpen && (
        <Suspense>{opened({ triggerRef: trigger, onClose: () => setOpen(false) })}</Suspense>
      )}
    </>
  )
}

export interface Point {
  x: number
  y: number
}

interface AtPointProps extends Pick<MenuButtonProps, 'opened'>, Pick<OpenMenu, 'onClose'> {
  at: Point
}

/** A menu at a point of the window. */
export const ContextMenu = ({ at, onClose, ...menu }: MenuProps & Omit<AtPointProps, 'opened'>) => (
  <AtPoint at={at} onClose={onClose} opened={open => <PopoverMenu {...menu} {...open} />} />
)

/** A menu at a point of the window: for a right click, a long touch or the context menu key. */
export function AtPoint({ at, opened, onClose }: AtPointProps) {
  const anchor = useRef<HTMLSpanElement>(null)
  const [isPlaced, setPlaced] = useState(false)
  useEffect(() => setPlaced(true), [])
  return (
    <>
      <span ref={anchor} className="context-anchor" style={{ left: at.x, top: at.y }} />
      {isPlaced && (
        <Suspense>
          {opened({
            triggerRef: anchor as unknown as RefObject<HTMLElement | null>,
            placement: 'bottom start',
            onClose,
          })}
        </Suspense>
      )}
    </>
  )
}
