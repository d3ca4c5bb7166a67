import './edit.css'
import type { Text } from '@codemirror/state'
import type { EditorView } from '@codemirror/view'
import { useBlocker } from '@tanstack/react-router'
import { lazy, type RefObject, Suspense, useEffect, useRef, useState } from 'react'
import type { TextKind } from '../../formats/viewer.ts'
import { isFailure } from '../../upload-engine/failure.ts'
import { formatBytes, formatMoment } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { toast } from '../parts/toasts.tsx'
import { type Draft, dropDraft, keepDraft, readDraft } from './drafts.ts'
import { MAX_TEXT_BYTES } from './editable.ts'
import { openEditor, replaceText, textOf } from './editor.ts'
import { hasUnsaved } from './open.ts'
import type { TextPlace } from './place.ts'
import { bytesToSave, load, type Refusal, type Stored, save, saveBeside } from './session.ts'
import { text } from './text.ts'

const Conflict = lazy(() => import('./conflict.tsx'))

/** Asks what happens to unsaved changes, then goes on. */
export type Leave = (then: () => void) => void

interface TextEditorProps {
  place: TextPlace
  kind: TextKind
  name: string
  /** Receives the function to call before the editor closes. */
  leave: RefObject<Leave | null>
  /** Called after the file was saved. */
  onSaved: () => void
  onEnd: () => void
}

/** The longest time from a change until the draft is stored, in milliseconds. */
const DRAFT_MS = 400

/** What stands in the way of saving. */
type Problem = { message: string; isGone?: boolean }

const messageOf = (error: unknown): string =>
  isFailure(error, 'UNREACHABLE')
    ? text('unreachable')
    : error instanceof Error
      ? error.message
      : String(error)

/** Edits the text of a file. */
export default function TextEditor({ place, kind, name, leave, onSaved, onEnd }: TextEditorProps) {
  const element = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  /** The document as it is stored, to find out whether it has changed. */
  const clean = useRef<Text>(undefined)
  const latest = useRef<Stored>(undefined)
  const [stored, setStored] = useState<Stored>()
  const [refusal, setRefusal] = useState<Refusal>()
  const [restored, setRestored] = useState<Draft>()
  const [isDirty, setDirty] = useState(false)
  const [isKept, setKept] = useState(false)
  const [isConverted, setConverted] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const [hasSaved, setSaved] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const [theirs, setTheirs] = useState<Stored>()
  const compared = useRef<() => string>(undefined)
  const [leaving, setLeaving] = useState<(() => void) | null>(null)
  const dirty = useRef(false)
  const timer = useRef(0)

  const nowText = () =>
    view.current && latest.current ? textOf(view.current, latest.current.lineBreak) : ''
  const note = (isChanged: boolean) => {
    dirty.current = isChanged
    hasUnsaved.set(isChanged)
    setDirty(isChanged)
  }
  const stopTimer = () => {
    clearTimeout(timer.current)
    timer.current = 0
  }
  const draftSoon = () => {
    timer.current ||= window.setTimeout(() => draft.current(), DRAFT_MS)
  }
  const storeDraft = async () => {
    stopTimer()
    const base = latest.current
    if (!base || !dirty.current) return
    const typed = compared.current?.() ?? nowText()
    const { md5 } = base.current
    setConverted(bytesToSave(base, typed).charset !== base.charset)
    setKept(await keepDraft(place.key, { text: typed, md5 }))
  }
  const noteChange = () => {
    if (!view.current || !clean.current) return
    const isChanged = !view.current.state.doc.eq(clean.current)
    setSaved(false)
    if (isChanged !== dirty.current) note(isChanged)
    if (isChanged) return draftSoon()
    stopTimer()
    void dropDraft(place.key)
  }
  const change = useRef(noteChange)
  change.current = noteChange
  const draft = useRef(storeDraft)
  draft.current = storeDraft

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor opens once for each file
  useEffect(() => {
    let isGone = false
    const open = async () => {
      const [found, kept] = await Promise.all([load(place), readDraft(place.key)])
      if (isGone || !element.current) return
      if (typeof found === 'string') return setRefusal(found)
      latest.current = found
      setStored(found)
      const begin = kept && kept.text !== found.text ? kept : undefined
      const opened = openEditor(element.current, { text: found.text, kind, name }, () =>
        change.current(),
      )
      view.current = opened
      clean.current = opened.state.doc
      if (begin) {
        replaceText(opened, begin.text)
        setRestored(begin)
        setKept(true)
        if (begin.md5 !== found.current.md5) {
          // The draft is of an older text, so saving it asks first.
          latest.current = { ...found, current: { ...found.current, md5: begin.md5 } }
          setTheirs(found)
        }
      } else if (kept) void dropDraft(place.key)
      opened.focus()
    }
    open().catch(error => isGone || setProblem({ message: messageOf(error) }))
    const hidden = () => document.visibilityState === 'hidden' && void draft.current()
    document.addEventListener('visibilitychange', hidden)
    return () => {
      isGone = true
      document.removeEventListener('visibilitychange', hidden)
      void draft.current()
      hasUnsaved.set(false)
      view.current?.destroy()
    }
  }, [place.key])

  /** @param over what the text replaces */
  const saveOver = async (over: Stored, typed: string): Promise<boolean> => {
    if (isSaving) return false
    setSaving(true)
    setProblem(undefined)
    // The session may have expired, which ends the page.
    void draft.current()
    try {
      const outcome = await save(place, over, typed)
      if (outcome.kind === 'gone') {
        setProblem({ message: text('lost'), isGone: true })
        return false
      }
      if (outcome.kind === 'conflict') {
        setTheirs(outcome.theirs)
        // Until one of the texts is chosen, also if the own one was undone.
        note(true)
        return false
      }
      latest.current = outcome.stored
      setStored(outcome.stored)
      setTheirs(undefined)
      setRestored(undefined)
      setConverted(false)
      if (view.current) {
        if (nowText() === typed) clean.current = view.current.state.doc
        // The comparison closes, so what was typed there meanwhile continues here.
        const newer = compared.current?.() ?? typed
        if (newer !== typed) replaceText(view.current, newer)
        note(nowText() !== typed)
      }
      // What was typed meanwhile is a draft of the text that is stored now.
      if (dirty.current) void draft.current()
      else {
        stopTimer()
        await dropDraft(place.key)
        setKept(false)
      }
      setSaved(true)
      onSaved()
      return true
    } catch (error) {
      setProblem({ message: messageOf(error) })
      void draft.current()
      return false
    } finally {
      setSaving(false)
    }
  }
  const saveNow = async (): Promise<boolean> => {
    if (theirs) return false
    if (!latest.current || (!dirty.current && !problem)) return true
    return saveOver(latest.current, nowText())
  }
  /** Ends the editor without asking. */
  const end = (then: () => void) => {
    stopTimer()
    note(false)
    then()
  }
  const discard = (then: () => void) => {
    void dropDraft(place.key)
    end(then)
  }
  const saveCopy = async () => {
    if (!latest.current) return
    setSaving(true)
    try {
      const copy = await saveBeside(place, latest.current, compared.current?.() ?? nowText())
      toast({ message: text('savedAs', { name: copy }) })
      onSaved()
      discard(onEnd)
    } catch (error) {
      setProblem({ message: messageOf(error), isGone: problem?.isGone ?? false })
    } finally {
      setSaving(false)
    }
  }
  const download = () => {
    if (!latest.current) return
    const { bytes } = bytesToSave(latest.current, compared.current?.() ?? nowText())
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([bytes]))
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  }
  const keepTheirs = () => {
    if (!theirs || !view.current) return
    latest.current = theirs
    setStored(theirs)
    setTheirs(undefined)
    replaceText(view.current, theirs.text)
    clean.current = view.current.state.doc
    note(false)
    void dropDraft(place.key)
    setRestored(undefined)
    view.current.focus()
    toast({ message: text('tookTheirs') })
  }
  const keepMine = async () => {
    if (!theirs || !view.current) return
    const mine = compared.current?.() ?? nowText()
    if (mine !== nowText()) replaceText(view.current, mine)
    if (await saveOver(theirs, mine)) view.current.focus()
  }

  leave.current = then => (dirty.current ? setLeaving(() => then) : end(then))
  const blocked = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      const isSame = (at: { pathname: string; search: object }) =>
        `${at.pathname} ${(at.search as { open?: string }).open} ${(at.search as { edit?: true }).edit}`
      return dirty.current && isSame(current) !== isSame(next)
    },
    enableBeforeUnload: () => dirty.current,
    withResolver: true,
  })
  useEffect(() => {
    if (blocked.status === 'blocked') setLeaving(() => blocked.proceed)
  }, [blocked])
  const stay = () => {
    setLeaving(null)
    if (blocked.status === 'blocked') blocked.reset()
    view.current?.focus()
  }

  const onSave = useRef(saveNow)
  onSave.current = saveNow
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 's')
        return
      event.preventDefault()
      void onSave.current()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])

  if (refusal)
    return (
      <section className="preview none text-refused" aria-label={text('editOne', { name })}>
        <p role="alert">{text(refusal, { most: formatBytes(MAX_TEXT_BYTES) })}</p>
        <Button autoFocus onPress={onEnd}>
          {text('back')}
        </Button>
      </section>
    )
  const state = isSaving
    ? text('saving')
    : isDirty
      ? text(isKept ? 'kept' : 'unsaved')
      : hasSaved
        ? text('saved')
        : ''
  return (
    <section
      className="text-editor"
      aria-label={text('editOne', { name })}
      onKeyDown={event => {
        if (event.key === 'Escape' && event.nativeEvent.defaultPrevented) event.stopPropagation()
      }}
    >
      <div className="text-editor-bar">
        <p role="status">{state}</p>
        {stored && stored.charset !== 'utf-8' && (
          <span className="text-charset" title={text('charset')}>
            {stored.charset}
          </span>
        )}
        <Button look="ghost" onPress={() => leave.current?.(onEnd)}>
          {text('done')}
        </Button>
        {!theirs && (
          <Button
            look="primary"
            isDisabled={!stored || isSaving || !(isDirty || problem)}
            onPress={() => void saveNow()}
          >
            {text('save')}
          </Button>
        )}
      </div>
      {problem && (
        <div className="text-notice wrong" role="alert">
          <p>
            {problem.message} {isKept && text('inDraft')}
          </p>
          {stored && (
            <span>
              {problem.isGone && (
                <Button isDisabled={isSaving} onPress={() => void saveCopy()}>
                  {text('saveNew')}
                </Button>
              )}
              <Button onPress={download}>{text('downloadMine')}</Button>
            </span>
          )}
        </div>
      )}
      {restored && !theirs && (
        <div className="text-notice" role="status">
          <p>{text('restored', { when: formatMoment(new Date(restored.at).toISOString()) })}</p>
          <Button
            onPress={() => {
              if (view.current && stored) replaceText(view.current, stored.text)
              setRestored(undefined)
              view.current?.focus()
            }}
          >
            {text('discardDraft')}
          </Button>
        </div>
      )}
      {stored && (!stored.isKept || isConverted) && (
        <p className="text-notice" role="status">
          {text(stored.isKept ? 'lacksCharacters' : 'becomesUtf8', { charset: stored.charset })}
        </p>
      )}
      {theirs && stored && (
        <Suspense fallback={<div className="text-place" />}>
          <Conflict
            theirs={theirs}
            mine={{ text: nowText(), kind, name }}
            isShared={place.isShared}
            isSaving={isSaving}
            lineBreak={stored.lineBreak}
            current={compared}
            onChange={draftSoon}
            onMine={() => void keepMine()}
            onTheirs={keepTheirs}
            onCopy={() => void saveCopy()}
          />
        </Suspense>
      )}
      <div className="text-place" ref={element} hidden={theirs !== undefined} />
      {leaving && (
        <Dialog
          title={text('leave', { name })}
          isOpen
          onClose={stay}
          footer={
            <>
              <Button onPress={stay}>{text('keepEditing')}</Button>
              <Button
                look="danger"
                onPress={() => {
                  setLeaving(null)
                  discard(leaving)
                }}
              >
                {text('discard')}
              </Button>
              {!theirs && (
                <Button
                  look="primary"
                  autoFocus
                  onPress={() => {
                    setLeaving(null)
                    void saveNow().then(isSaved => {
                      if (isSaved) end(leaving)
                      else if (blocked.status === 'blocked') blocked.reset()
                    })
                  }}
                >
                  {text('save')}
                </Button>
              )}
            </>
          }
        >
          <p>{text('leaveHint')}</p>
        </Dialog>
      )}
    </section>
  )
}
