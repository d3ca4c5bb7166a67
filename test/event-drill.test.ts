import { expect, it } from '@jest/globals'
import { apply, drive, type Model, seqOf, type TrashModel } from './event-model.ts'

declare const engine: 'sqlite' | 'mysql'

// SQLite is for one process.
const onServers = engine === 'mysql' ? it : it.skip

onServers(
  'A hundred writers of one drive, and kills: the feed tells exactly what became of its tree, and each event once',
  async () => {
    const { fed, followed, tree } = await drive({ writers: 100, kills: 5, killEvery: 2000 })
    expect(fed.map(seqOf)).toEqual(fed.map((_, i) => i + 1))
    const model: Model = new Map()
    const trash: TrashModel = new Map()
    for (const event of fed) apply(model, trash, event)
    const kinds = new Set(fed.map(({ kind }) => kind))
    for (const kind of ['FILE_RESTORED', 'FOLDER_RESTORED', 'TRASH_PURGED'])
      expect(kinds).toContain(kind)
    expect(new Map([...model].sort())).toEqual(new Map([...tree].sort()))
    expect(followed).toEqual(fed)
  },
  300_000,
)
