/** Field limits of the service, in characters. A test compares them with the service. */
export const MAX_EMAIL = 320
export const MAX_KEY_NAME = 100
export const MAX_KEY_DESCRIPTION = 1000
export const MAX_LABEL = 100
export const MAX_MAINTENANCE_MESSAGE = 500
export const MAX_MESSAGE = 1000
export const MAX_NAME = 255
export const MAX_NAME_PART = 255
export const MAX_NOTE = 10_000
export const MAX_PASSWORD = 128
export const MAX_PLAN_ID = 32
export const MAX_PLAN_NAME = 64
export const MAX_SEARCH = 500
export const MAX_SLUG = 48
export const MAX_WEBHOOK_URL = 2000
export const MAX_WORKSPACE_NAME = 64
