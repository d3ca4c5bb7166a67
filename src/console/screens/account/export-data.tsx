import './export.css'
import { useEffect, useRef, useState } from 'react'
import { formatBytes } from '../../i18n/format.ts'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/command.tsx'
import { Download, X } from '../../parts/icons.ts'
import { Section } from '../../parts/screen.tsx'
import { useTask } from '../../parts/use-task.ts'
import { downloadFiles } from './everything.ts'
import { readExport, save } from './export.ts'
import { text } from './text.ts'

/** Exports the person's account data, and explains how to save the files. */
export function ExportData() {
  const { isBusy, problem, run } = useTask()
  const [bytes, setBytes] = useState(0)
  const [isDone, setDone] = useState(false)
  const leaving = useRef<AbortController>(null)
  useEffect(() => () => leaving.current?.abort(), [])

  const [archives, setArchives] = useState<number | null>(null)
  /** @param isWhole whether the files are downloaded, too */
  const start = (isWhole: boolean) =>
    run(async () => {
      leaving.current = new AbortController()
      setBytes(0)
      setDone(false)
      setArchives(null)
      const made = await readExport(setBytes, leaving.current.signal)
      if (!made) return
      save(made)
      if (isWhole) setArchives(await downloadFiles())
      setDone(true)
    })

  return (
    <Section title={text('export')} hint={text('exportHint')}>
      <div className="export-line">
        <Button look="primary" isDisabled={isBusy} onPress={() => void start(true)}>
          <Download />
          {text('everything')}
        </Button>
        <Button isDisabled={isBusy} onPress={() => void start(false)}>
          <Download />
          {text('exportStart')}
        </Button>
        {isBusy && (
          <Button look="ghost" onPress={() => leaving.current?.abort()}>
            <X />
            {text('exportStop')}
          </Button>
        )}
        <span className="soft" role="status">
          {isBusy && bytes > 0 && text('exportSoFar', { bytes: formatBytes(bytes) })}
          {isDone && text('exportDone', { bytes: formatBytes(bytes) })}
          {isDone && archives !== null && ` · ${text('filesStarted', { count: archives })}`}
        </span>
      </div>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <Command title={text('exportFiles')} command="satchel sync :/ satchel-files" />
    </Section>
  )
}
