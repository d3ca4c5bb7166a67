import './space.css'
import type { CSSProperties } from 'react'
import { Link } from 'react-aria-components'
import { formatBytes, formatPercent } from '../i18n/format.ts'
import { text } from './text.ts'

export const tones = ['accent', 'table', 'audio', 'image', 'video', 'archive'] as const

export interface Part {
  id: string
  label: string
  bytes: number
  /** Colour token of the part. Free space has the colour of the bar. */
  tone: (typeof tones)[number] | 'edge' | 'line'
  /** Links to a folder. */
  href?: string
}

const colour = (tone: Part['tone']) => ({ '--tone': `var(--${tone})` }) as CSSProperties

interface SpacePartsProps {
  parts: Part[]
  /** Length of the bar, in bytes. */
  whole: number
  /** The total for the percentages, in bytes. */
  used: number
}

/** Storage use as a bar. The list below contains the same data as text. */
export const SpaceParts = ({ parts, whole, used }: SpacePartsProps) => (
  <>
    <div className="space-bar" aria-hidden>
      {parts
        .filter(({ tone }) => tone !== 'line')
        .map(({ id, tone, bytes }) => (
          <span key={id} style={{ ...colour(tone), width: `${(bytes / whole) * 100}%` }} />
        ))}
    </div>
    <ul className="space-parts" aria-label={text('parts')}>
      {parts.map(({ id, label, tone, bytes, href }) => (
        <li key={id}>
          <span className="swatch" style={colour(tone)} aria-hidden />
          {href ? (
            <Link href={href} className="space-label">
              <bdi title={label}>{label}</bdi>
            </Link>
          ) : (
            <span className="space-label">
              <bdi title={label}>{label}</bdi>
            </span>
          )}
          <span className="soft">
            {formatBytes(bytes)}
            {tone !== 'line' && used > 0 && ` · ${formatPercent(bytes / used)}`}
          </span>
        </li>
      ))}
    </ul>
  </>
)
