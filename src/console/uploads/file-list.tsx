import { formatBytes } from '../i18n/format.ts'
import type { Gathered } from './gather.ts'
import { text } from './text.ts'

const SHOWN = 5

/** The first files of a list, and the number of the others. */
export const FileList = ({ files }: { files: readonly Gathered[] }) => (
  <>
    <ul className="tight-list">
      {files.slice(0, SHOWN).map(({ file, folder, arrived }) => (
        <li key={arrived ?? `${folder}/${file.name}`}>
          <span dir="auto">{file.name}</span>
          <span>{formatBytes(file.size)}</span>
        </li>
      ))}
    </ul>
    {files.length > SHOWN && <p>{text('more', { count: files.length - SHOWN })}</p>}
  </>
)
