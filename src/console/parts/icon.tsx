import { createElement, type ReactElement } from 'react'

/**
 * An icon of Lucide. It is an ornament: what it means, the words beside it say. Its size is of the
 * stylesheet.
 */
export type LucideIcon = (props: { className?: string; 'aria-hidden'?: boolean }) => ReactElement

/** @param shapes elements of SVG with their attributes, in a square of 24 */
export function icon(
  name: string,
  shapes: readonly [tag: string, attributes: object][],
): LucideIcon {
  const drawn = shapes.map(([tag, attributes], key) => createElement(tag, { key, ...attributes }))
  return ({ className = '' }) => (
    <svg
      className={`lucide-${name} ${className}`}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      {drawn}
    </svg>
  )
}
