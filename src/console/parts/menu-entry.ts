import type { ReactNode, RefObject } from 'react'
import type { LucideIcon } from './icons.ts'

export interface MenuItem {
  id: string
  label: string
  icon?: LucideIcon
  keys?: string
  danger?: boolean
  /**
   * Makes the entry a radio item, and says whether it is checked. Separators delimit the groups.
   */
  isChosen?: boolean
  run: () => void
}

export type MenuEntry = MenuItem | 'separator'

export interface MenuProps {
  label: string
  entries: MenuEntry[]
  placement?: 'bottom end' | 'bottom start' | 'top end'
  /** Shown above the entries. */
  header?: ReactNode
}

export interface OpenMenu extends Pick<MenuProps, 'placement'> {
  triggerRef: RefObject<HTMLElement | null>
  onClose: () => void
}
