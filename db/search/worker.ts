import { parentPort, workerData } from 'node:worker_threads'
import { Cancellations } from './cancellation.ts'
import { OtherIndex, SearchFile } from './file.ts'
import { operations } from './operations.ts'
import type { Answer, Question, ThreadData } from './thread.ts'

/* A thread that reads or writes the search index. */

const port = parentPort
const { path, cancelled } = workerData as ThreadData
const file = new SearchFile(path)
const cancellations = new Cancellations(cancelled)

function answerTo({ number, name, identity, args }: Question): Omit<Answer, 'number'> {
  file.isCancelled = () => cancellations.has(number)
  try {
    file.step()
    const work = operations[name] as (file: SearchFile, ...args: unknown[]) => unknown
    return { result: file.use(identity, opened => work(opened, ...args), name === 'open') }
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    return { failure, isOther: error instanceof OtherIndex }
  }
}

port?.on('message', (question: Question | 'close') => {
  if (question === 'close') {
    file.close()
    port.close()
  } else port.postMessage({ ...answerTo(question), number: question.number } satisfies Answer)
})
