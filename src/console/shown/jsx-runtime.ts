import { Fragment, jsx as make, jsxs as makeMany } from 'react/jsx-runtime'
import { shownText } from '../../renderers/shown-text.ts'

type Props = Record<string, unknown>

/** What people read of an element. The value of a field stays what it is. */
const read = ['children', 'title', 'alt', 'aria-label'] as const

const shown = (value: unknown): unknown =>
  typeof value === 'string'
    ? shownText(value)
    : Array.isArray(value)
      ? value.map(one => (typeof one === 'string' ? shownText(one) : one))
      : value

/** Neutralizes all text of the console in one place: the compiler calls this for each element. */
const safe =
  (create: typeof make): typeof make =>
  (type, given, key) => {
    const props = given as Props
    for (const name of read) if (name in props) props[name] = shown(props[name])
    return create(type, props, key)
  }

export const jsx = safe(make)
export const jsxs = safe(makeMany)
export { Fragment }
