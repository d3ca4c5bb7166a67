import { expect, it } from '@jest/globals'
import { apply, drive, type Model, seqOf, type TrashModel } from '../../support/event-model.ts'

declare const engine: 'sqlite' | 'mysql'

// SQLite allows only one process.
const onServers = engine === 'mysql' ? it : it.skip

onServers(
  'The feed of a drive with a hundred writers and kills matches its tree, each event once',
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
