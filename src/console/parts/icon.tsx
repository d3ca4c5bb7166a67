import { createElement, type ReactElement } from 'react'

/** A decorative Lucide icon. Adjacent text carries the meaning, and CSS sets the size. */
export type LucideIcon = (props: { className?: string; 'aria-hidden'?: boolean }) => ReactElement

/** @param shapes SVG elements with their attributes, on a 24 × 24 grid */
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
