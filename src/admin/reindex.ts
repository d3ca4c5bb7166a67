import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../db/index.ts'
import { countTexts, deleteTexts } from '../../db/queries/content-text.ts'
import { countSearchDrives, restartSearchDrives } from '../../db/queries/search-drive.ts'
import { unsetTextsReady } from '../../db/queries/search-text.ts'
import { deleteTextIndex } from '../../db/queries/text-block.ts'
import type { Program } from './plan.ts'

const ROWS = 1000
const TEXTS = 100
const LOOK_MS = 1000

interface Options {
  again: boolean
  wait: boolean
}

/** The progress of the rebuild. */
async function progressOf(db: Db) {
  const [drives, texts] = [await countSearchDrives(db), await countTexts(db)]
  return {
    drives: drives.drives,
    drivesLeft: drives.unfinished,
    entries: drives.entries,
    texts: texts.made,
    textsFailed: texts.failed,
    textsWaiting: texts.waiting,
  }
}

const inWords = ({
  drives,
  drivesLeft,
  entries,
  texts,
  textsWaiting,
}: Awaited<ReturnType<typeof progressOf>>): string =>
  `${drives - drivesLeft} of ${drives} drives, ${entries} files and folders, ${texts} texts, ${textsWaiting} texts waiting`

/** Declares the command that rebuilds the search index. */
export function reindexCommand({ command, run }: Program): void {
  command('reindex', 'rebuilds the index of the search, while the service runs')
    .option(
      '--again',
      'reads the texts of all files again, instead of those that could not be read',
      false,
    )
    .option('--no-wait', 'does not wait until the service has rebuilt it')
    .addHelpText(
      'after',
      `
The service does the work, from within a minute on (SWEEP_SECONDS), or when it next starts. Names are found meanwhile; contents are as they are indexed anew. Ending this command does not end the work.`,
    )
    .action(({ again, wait }: Options) =>
      run(async (_operator, { db }) => {
        // Deletes words before contents. Words that a job adds meanwhile are deleted with their
        // content, and added again when the drive is reindexed. If this stops halfway, no content
        // without words counts as indexed.
        while ((await unsetTextsReady(db, ROWS)) > 0);
        while ((await deleteTextIndex(db, ROWS)) > 0);
        while ((await deleteTexts(db, TEXTS, !again)) > 0);
        await restartSearchDrives(db)
        let last = ''
        for (;;) {
          const progress = await progressOf(db)
          const words = inWords(progress)
          const isDone = progress.drivesLeft === 0 && progress.textsWaiting === 0
          if (isDone || !wait)
            return { fact: progress, words: isDone ? `The index is rebuilt: ${words}.` : words }
          if (words !== last) process.stderr.write(`${words}\n`)
          last = words
          await sleep(LOOK_MS)
        }
      }),
    )
}
