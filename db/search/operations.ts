import type { SearchFile } from './file.ts'
import { find, hold, holdAnywhere } from './querying.ts'
import {
  add,
  begin,
  check,
  drives,
  drivesAfter,
  forget,
  itemsAfter,
  lackingText,
  noteTextsAt,
  progress,
  removeItems,
  restart,
  textsAt,
} from './writing.ts'

/** Opens the file, and empties the index of another database. */
const open = (_file: SearchFile): void => {}

/** What the threads of the index do, by name. The first argument of each is the file. */
export const operations = {
  add,
  begin,
  check,
  drives,
  drivesAfter,
  find,
  forget,
  hold,
  holdAnywhere,
  itemsAfter,
  lackingText,
  noteTextsAt,
  open,
  progress,
  removeItems,
  restart,
  textsAt,
}

export type OperationName = keyof typeof operations
export type Arguments<Name extends OperationName> =
  Parameters<(typeof operations)[Name]> extends [SearchFile, ...infer Rest] ? Rest : never
export type Result<Name extends OperationName> = ReturnType<(typeof operations)[Name]>
