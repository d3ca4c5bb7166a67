import type { Tool } from './tool.ts'
import { changeTools } from './tools/change.ts'
import { readTools } from './tools/read.ts'

/** All tools of assistants. */
export const tools: readonly Tool[] = [...readTools, ...changeTools]
