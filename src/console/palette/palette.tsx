import './palette.css'
import { useDeferredValue, useEffect, useState } from 'react'
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components'
import { useQuery } from 'urql'
import { Button } from '../parts/button.tsx'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { Search } from '../parts/icons.ts'
import { MAX_SEARCH } from '../parts/limits.ts'
import type { Me } from '../shell/me.ts'
import { forgetWanted } from '../shell/offers.ts'
import { DRIVES, useFind } from './find.ts'
import { fitting, type Item, useFoundItems, useGroups } from './items.ts'
import { text } from './text.ts'

const none: never[] = []

/** Command palette: finds files, folders, screens and commands by a few letters. */
export function Palette({ me, onClose }: { me: Me; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  // File names are NFC, but pasted text may not be.
  const query = typed.trim().normalize('NFC')
  const [{ data, error }, reload] = useQuery({ query: DRIVES, requestPolicy: 'cache-and-network' })
  const workspaces = data?.me.workspaces?.nodes ?? none
  const finding = useFind(query)
  const foundItems = useFoundItems()
  const found = { id: 'found', title: text('found'), items: foundItems(finding.found, query) }
  const groups = [
    ...fitting(useGroups(me, workspaces), query),
    ...(found.items.length > 0 ? [found] : []),
  ]
  const count = groups.reduce((sum, { items }) => sum + items.length, 0)
  // During fast typing, screen readers announce only the last count.
  const said = useDeferredValue(!query || finding.isBusy ? '' : text('count', { count }))
  useEffect(() => forgetWanted(), [])

  const choose = ({ run }: Item) => {
    onClose()
    // Lets the dialog return the focus first.
    setTimeout(run)
  }
  const problem = finding.error ?? error
  return (
    <ModalOverlay
      className="backdrop palette-backdrop"
      isDismissable
      isOpen
      onOpenChange={open => open || onClose()}
    >
      <Modal className="dialog palette">
        <Dialog aria-label={text('title')} className="palette-body">
          <Autocomplete inputValue={typed} onInputChange={setTyped}>
            <SearchField className="palette-field" aria-label={text('field')} autoFocus>
              <Search aria-hidden />
              <Input
                placeholder={text('placeholder')}
                maxLength={MAX_SEARCH}
                enterKeyHint="go"
                // The list would swallow the key.
                onKeyDownCapture={({ key }) => key === 'Escape' && typed === '' && onClose()}
              />
            </SearchField>
            <Menu className="palette-list" aria-label={text('results')}>
              {groups.map(({ id, title, items }) => (
                <MenuSection key={id} id={id} className="palette-group">
                  <Header>{title}</Header>
                  {items.map(item => (
                    <Line
                      key={`${id} ${item.id}`}
                      id={`${id} ${item.id}`}
                      item={item}
                      onChoose={choose}
                    />
                  ))}
                </MenuSection>
              ))}
            </Menu>
          </Autocomplete>
          {count === 0 && !finding.isBusy && !problem && (
            <p className="palette-none">{text('none', { query })}</p>
          )}
          <p role="status" className="sr">
            {said}
          </p>
          <div className="palette-foot">
            {problem ? (
              <div role="alert" className="palette-problem">
                <p>
                  {text('failed')} {problem.message}
                </p>
                <Button
                  look="ghost"
                  onPress={error ? () => reload({ requestPolicy: 'network-only' }) : finding.retry}
                >
                  {text('retry')}
                </Button>
              </div>
            ) : (
              <p className="palette-hints">
                {finding.isBusy ? (
                  text('searching')
                ) : (
                  <>
                    <span>
                      <kbd>↑ ↓</kbd> {text('move')}
                    </span>
                    <span>
                      <kbd>⏎</kbd> {text('run')}
                    </span>
                    <span>
                      <kbd>Esc</kbd> {text('close')}
                    </span>
                  </>
                )}
              </p>
            )}
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

function Line({ id, item, onChoose }: { id: string; item: Item; onChoose: (item: Item) => void }) {
  const { label, detail, icon: Icon, contentType, keys, danger } = item
  return (
    <MenuItem
      id={id}
      className={`menu-item palette-item${danger ? ' danger' : ''}`}
      textValue={label}
      onAction={() => onChoose(item)}
    >
      {contentType === undefined ? (
        Icon ? (
          <Icon aria-hidden />
        ) : (
          <span />
        )
      ) : (
        <EntryIcon contentType={contentType} />
      )}
      <span className="palette-label" dir="auto">
        {label}
      </span>
      {detail && (
        <span className="palette-detail" dir="auto">
          {detail}
        </span>
      )}
      {keys && <kbd>{keys}</kbd>}
    </MenuItem>
  )
}
