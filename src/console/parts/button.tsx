import type { RefAttributes } from 'react'
import { Button as AriaButton, type ButtonProps, Link, type LinkProps } from 'react-aria-components'

export interface ButtonLooks {
  look?: 'primary' | 'plain' | 'ghost' | 'danger' | 'icon'
  className?: string
}

/** A button. `icon` is for buttons with only an icon, which need an `aria-label`. */
export const Button = ({
  look = 'plain',
  className = '',
  ...props
}: ButtonProps & ButtonLooks & RefAttributes<HTMLButtonElement>) => (
  <AriaButton {...props} className={`button ${look} ${className}`} />
)

/** A link styled as a button. */
export const LinkButton = ({
  look = 'plain',
  className = '',
  ...props
}: LinkProps & ButtonLooks) => <Link {...props} className={`button ${look} ${className}`} />
