import { formatNumber } from '../../i18n/format.ts'
import { Button } from '../../parts/button.tsx'
import { Info } from '../../parts/icons.ts'
import { UploadButton } from '../../uploads/button/upload-button.tsx'
import type { Commands } from '../files/commands.ts'
import { SelectionActions } from '../files/selection-actions.tsx'
import { text as filesText } from '../files/text.ts'
import { text } from './text.ts'

/** The actions for the selection. */
export function Bar({ commands, count }: { commands: Commands; count: number }) {
  const { selected, drive, search, setSearch, target } = commands
  return (
    <div className="toolbar" role="toolbar" aria-label={text('actions')}>
      {selected.length > 0 ? (
        <SelectionActions commands={commands} />
      ) : (
        <>
          <span className="count" role="status">
            {count > 0 && text('count', { count, shown: formatNumber(count) })}
          </span>
          {target && drive?.canWrite && count > 0 && <UploadButton to={target} />}
        </>
      )}
      <span className="toolbar-end">
        <Button
          look="icon"
          aria-label={filesText('details')}
          aria-pressed={Boolean(search.details)}
          onPress={() => setSearch({ details: search.details ? undefined : true })}
        >
          <Info />
        </Button>
      </span>
    </div>
  )
}
