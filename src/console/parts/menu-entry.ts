import type { ReactNode, RefObject } from 'react'
import type { LucideIcon } from './icons.ts'

export interface MenuItem {
  id: string
  label: string
  icon?: LucideIcon
  keys?: string
  danger?: boolean
  /** Of those between two separators one is chosen: whether it is this one. */
  isChosen?: boolean
  run: () => void
}

export type MenuEntry = MenuItem | 'separator'

export interface MenuProps {
  label: string
  entries: MenuEntry[]
  placement?: 'bottom end' | 'bottom start' | 'top end'
  /** Stands above the entries. */
  header?: ReactNode
}

export interface OpenMenu extends Pick<MenuProps, 'placement'> {
  triggerRef: RefObject<HTMLElement | null>
  onClose: () => void
}
