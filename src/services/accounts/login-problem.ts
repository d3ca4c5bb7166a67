import { MAX_EMAIL } from '../../values/limits.ts'
import type { PasswordProblem } from './password-rule.ts'
import { canonicalEmail } from './profile.ts'

/** The error of a form. The page translates it. */
export type LoginProblemCode =
  | PasswordProblem
  | 'email_invalid'
  | 'name_long'
  | 'link_gone'
  | 'exists'

export class LoginProblem extends Error {
  readonly field: 'email' | 'name' | 'password' | null
  readonly code: LoginProblemCode

  constructor(field: LoginProblem['field'], code: LoginProblemCode) {
    super(code)
    this.field = field
    this.code = code
  }
}

const MAX_NAME = 200

/** @throws LoginProblem */
export function readEmail(text: string): string {
  const email = canonicalEmail(text.trim())
  const isAddress =
    /^[^\s\p{Cc}\p{Cf}\p{Cs}@<>()[\]",;:\\]+@[^\s\p{Cc}\p{Cf}\p{Cs}@<>()[\]",;:\\]+$/u
  if (email.length > MAX_EMAIL || !isAddress.test(email))
    throw new LoginProblem('email', 'email_invalid')
  return email
}

export function readName(text: string, email: string): string {
  const name = text
    .normalize('NFC')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  if (name.length > MAX_NAME) throw new LoginProblem('name', 'name_long')
  return name || email.slice(0, email.indexOf('@'))
}
