import { figure, MAX_MESSAGE } from '../src/values/limits.ts'

/** What the sender of a mail writes in it. */
export const mailMessage = {
  description: `What the mail tells them besides, in up to ${figure(MAX_MESSAGE)} characters. It is not kept.`,
}
