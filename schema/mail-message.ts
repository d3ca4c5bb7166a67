import { figure, MAX_MESSAGE } from '../src/values/limits.ts'

/** The sender's message in a mail. */
export const mailMessage = {
  description: `A message for the mail, up to ${figure(MAX_MESSAGE)} characters. It is not stored.`,
}
