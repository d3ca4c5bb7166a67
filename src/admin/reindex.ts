import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../db/index.ts'
import { countTexts, deleteTexts } from '../../db/queries/content-text.ts'
import { countBuckets, newSearchEpoch, searchEpoch } from '../../db/queries/search.ts'
import { SEARCH_FILE } from '../../db/search/index.ts'
import { SearchInspection } from '../../db/search/inspect.ts'
import type { Program } from './plan.ts'

const TEXTS = 100
const LOOK_MS = 1000

interface Options {
  again: boolean
  wait: boolean
}

/** The progress of the rebuild in the index of this machine. */
async function progressOf(db: Db, path: string) {
  const index = SearchInspection.open(path, await searchEpoch(db))
  const { drives, unfinished, entries } = index?.progress() ?? {
    drives: 0,
    unfinished: 0,
    entries: 0,
  }
  index?.close()
  const all = Math.max(drives, await countBuckets(db))
  const texts = await countTexts(db)
  return {
    drives: all,
    drivesLeft: all - drives + unfinished,
    entries,
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
Each instance of the service makes its own index again, from within a minute on (SWEEP_SECONDS), or when it next starts. Searches say meanwhile that they are incomplete. The command waits for the index in DATA_DIR. Ending it does not end the work.`,
    )
    .action(({ again, wait }: Options) =>
      run(async (_operator, { db, config }) => {
        while ((await deleteTexts(db, TEXTS, !again)) > 0);
        await newSearchEpoch(db, randomUUID())
        const path = join(config.dataDir, SEARCH_FILE)
        let last = ''
        for (;;) {
          const progress = await progressOf(db, path)
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
