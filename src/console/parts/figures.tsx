import type { ReactNode } from 'react'

/** Figures with labels, side by side. */
export const Figures = ({
  of,
}: {
  of: readonly (readonly [label: string, value: ReactNode])[]
}) => (
  <dl className="figures">
    {of.map(([label, value]) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
