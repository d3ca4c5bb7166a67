import Bowser from 'bowser'
import { remembered } from '../runtime/remembered.ts'

/** More of a User-Agent is not read. */
const LONGEST_READ = 512
const LONGEST_LABEL = 200

/**
 * What a client calls itself, in words for its user: "Firefox on Linux". It is a claim, and decides
 * about nothing.
 */
export const deviceOf = (userAgent: string | undefined): string =>
  labelOf((userAgent ?? '').slice(0, LONGEST_READ))

const labelOf = remembered(LONGEST_READ, text => {
  if (text.trim() === '') return 'Unknown device'
  const { browser, os } = Bowser.parse(text)
  // Programs name themselves first: "curl/8.5.0".
  const name = browser.name || (/^[\w.-]+/.exec(text)?.[0] ?? 'Unknown device')
  const label = os.name ? `${name} on ${os.name}` : name
  return label.replace(/[^\x20-\x7e]+/g, ' ').slice(0, LONGEST_LABEL)
})
