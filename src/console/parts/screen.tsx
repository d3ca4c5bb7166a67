import { Link, useLocation } from '@tanstack/react-router'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { useTitle } from './use-title.ts'

export interface Tab {
  to: string
  label: string
  /** Also matches URLs below it. */
  andBelow?: boolean
}

export interface TabsProps {
  label: string
  tabs: readonly Tab[]
}

/** Related screens as tabs. On small screens, the tab bar scrolls to the current one. */
export function Tabs({ label, tabs }: TabsProps) {
  const nav = useRef<HTMLElement>(null)
  const count = tabs.length
  useEffect(() => {
    // More tabs may appear when permissions have loaded.
    if (count > 0)
      nav.current?.querySelector('.active')?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [count])
  return (
    <nav ref={nav} className="tabs" aria-label={label}>
      {tabs.map(({ to, label, andBelow }) => (
        <Link
          key={to}
          to={to}
          className="tab"
          activeOptions={{ exact: !andBelow, includeSearch: false }}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}

interface ScreenProps {
  title: string
  /** Shown beside the title. */
  actions?: ReactNode
  /** Shown above the title. */
  tabs?: TabsProps
  children: ReactNode
}

/** A screen that scrolls as a whole. */
export function Screen({ title, actions, tabs, children }: ScreenProps) {
  const { pathname } = useLocation()
  useTitle(tabs?.tabs.find(({ to }) => to === pathname)?.label, title)
  return (
    <>
      {tabs && <Tabs {...tabs} />}
      <div className="screen-head">
        <h1 dir="auto">{title}</h1>
        {actions}
      </div>
      <div className="screen-body">
        <div className="sections">{children}</div>
      </div>
    </>
  )
}

/** A part of a screen with its own heading. */
export function Section({
  title,
  hint,
  actions,
  children,
}: {
  title: string
  hint?: ReactNode
  actions?: ReactNode
  children?: ReactNode
}) {
  const id = useId()
  return (
    <section className="section" aria-labelledby={id}>
      <div className="section-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {hint && <p className="hint">{hint}</p>}
      {children}
    </section>
  )
}
