import { createStore, del, entries, get, set } from 'idb-keyval'
import { isForgetting, person } from '../graphql/session.ts'

/** A text with unsaved changes, stored in this browser. */
export interface Draft {
  /** Id of the person. */
  person: string
  text: string
  /** MD5 of the content that was changed, in hex. */
  md5: string
  /** The time of the last change, in ms since 1970. */
  at: number
}

/** Drafts of files that nobody opens again are deleted. */
const KEPT_MS = 60 * 86_400_000

let opened: ReturnType<typeof createStore> | undefined

/** Opens the database until it is deleted, which waits for all pages that have it open. */
function open(): ReturnType<typeof createStore> {
  const store = createStore('satchel-drafts', 'drafts')
  const closing = store('readonly', ({ transaction: { db } }) => {
    db.onversionchange = () => {
      db.close()
      opened = undefined
    }
  })
  closing.catch(() => {})
  return store
}

/** Runs a database request. Some browsers refuse storage in private windows. */
async function stored<T>(
  work: (store: ReturnType<typeof createStore>) => Promise<T>,
): Promise<T | undefined> {
  try {
    opened ??= open()
    return await work(opened)
  } catch {
    return undefined
  }
}

/** Deletes old drafts and those of other people, once for each page. */
let tidied: Promise<unknown> | undefined
const tidy = () => {
  tidied ??= stored(async store => {
    for (const [key, draft] of await entries<string, Draft>(store))
      if (draft.person !== person || draft.at < Date.now() - KEPT_MS) await del(key, store)
  })
  return tidied
}

/** The draft of a file; undefined if there is none. */
export async function readDraft(key: string): Promise<Draft | undefined> {
  await tidy()
  const draft = await stored(store => get<Draft>(key, store))
  // Somebody else may have signed in meanwhile, on another page of this browser.
  return draft?.person === person ? draft : undefined
}

/** Stores a draft. Returns whether the browser has kept it. */
export async function keepDraft(key: string, draft: Pick<Draft, 'text' | 'md5'>): Promise<boolean> {
  if (isForgetting() || person === undefined) return false
  const kept = { ...draft, person, at: Date.now() }
  return (await stored(store => set(key, kept, store).then(() => true))) ?? false
}

export const dropDraft = (key: string): Promise<void> => stored(store => del(key, store))
