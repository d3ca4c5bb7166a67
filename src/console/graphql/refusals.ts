import { sharedValue } from '../parts/shared-value.ts'

/**
 * Counts the requests refused because of maintenance. The banner then rechecks the maintenance
 * state.
 */
export const refusals = sharedValue(0)
