import { formatNumber } from '../../i18n/format.ts'
import { nothing } from '../../listing/selection.ts'
import { Button } from '../../parts/button.tsx'
import { Download, Ellipsis, FolderInput, Info, Trash2, UserRoundPlus, X } from '../../parts/icons.ts'
import { MenuButton } from '../../parts/menu.tsx'
import { UploadButton } from '../../uploads/button/upload-button.tsx'
import { type Commands, mayShare } from '../files/commands.ts'
import { isOneFile } from '../files/documents.ts'
import { FilesMenu } from '../files/files-menu.ts'
import { text } from './text.ts'

/** What can be done with what is selected. */
export function Bar({ commands, count }: { commands: Commands; count: number }) {
  const { selected, select, drive, act, remove, search, setSearch, setOpen, target } = commands
  return (
    <div className="toolbar" role="toolbar" aria-label={text('actions')}>
      {selected.length === 0 ? (
        <>
          <span className="count" role="status">
            {count > 0 && text('count', { count, shown: formatNumber(count) })}
          </span>
          {target && drive?.canWrite && count > 0 && <UploadButton to={target} />}
        </>
      ) : (
        <>
          <Button look="icon" aria-label={text('clear')} onPress={() => select(nothing)}>
            <X />
          </Button>
          <span className="count strong" role="status">
            {text('selected', { count: selected.length })}
          </span>
          <Button
            look="icon"
            aria-label={text(isOneFile(selected) ? 'download' : 'downloadZip')}
            onPress={() => act(actions => actions.download(selected))}
          >
            <Download />
          </Button>
          {mayShare(drive, selected) && (
            <Button look="icon" aria-label={text('share')} onPress={() => setOpen('share')}>
              <UserRoundPlus />
            </Button>
          )}
          {drive?.canWrite && (
            <Button look="icon" aria-label={text('moveTo')} onPress={() => setOpen('picker')}>
              <FolderInput />
            </Button>
          )}
          {drive?.canDelete && (
            <Button look="icon" aria-label={text('delete')} onPress={() => remove(selected)}>
              <Trash2 />
            </Button>
          )}
          <MenuButton
            label={text('moreActions')}
            button={{ look: 'icon' }}
            opened={open => <FilesMenu {...open} commands={commands} of={selected} label={text('moreActions')} />}
          >
            <Ellipsis />
          </MenuButton>
        </>
      )}
      <span className="toolbar-end">
        <Button
          look="icon"
          aria-label={text('details')}
          aria-pressed={Boolean(search.details)}
          onPress={() => setSearch({ details: search.details ? undefined : true })}
        >
          <Info />
        </Button>
      </span>
    </div>
  )
}
