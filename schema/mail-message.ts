import { figure, MAX_MESSAGE } from '../src/values/limits.ts'

/** What the sender of a mail writes in it. */
export const mailMessage = {
  description: `A message for the mail, up to ${figure(MAX_MESSAGE)} characters. It is not stored.`,
}
