import { expect, it } from '@jest/globals'
import { planClaim } from '../../src/config/plan-claim.ts'

it.each([
  ['groups:staff=team', 'groups', 'staff'],
  ['cognito:groups:staff=team', 'cognito:groups', 'staff'],
  ['https://example.com:8443/groups:staff=team', 'https://example.com:8443/groups', 'staff'],
  ['groups:a=b=team', 'groups', 'a=b'],
])('PLAN_CLAIM %s names the claim %s', (text, claim, value) => {
  expect(planClaim.parse(text)).toEqual({ claim, plans: [{ value, plan: 'team' }] })
  const more = planClaim.parse(`${text},role:x=basic`)
  expect(more).toEqual({
    claim,
    plans: [
      { value, plan: 'team' },
      { value: 'role:x', plan: 'basic' },
    ],
  })
})

it.each(['groups', 'groups:staff', 'groups:=team', ':staff=team', 'groups:staff=No plan'])(
  'PLAN_CLAIM %s is refused',
  text => {
    expect(planClaim.safeParse(text).success).toBe(false)
  },
)
