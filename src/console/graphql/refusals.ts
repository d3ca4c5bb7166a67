import { sharedValue } from '../parts/shared-value.ts'

/** How often something was refused because of a maintenance: who shows that looks for it then. */
export const refusals = sharedValue(0)
