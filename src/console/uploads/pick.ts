import { fromHandles, fromInput, type Gathering } from './gather.ts'

/**
 * Referenced until the next pick, because some browsers drop an open input that nothing references.
 */
let input: HTMLInputElement | undefined

/**
 * Opens the file picker for files, one file or a folder. Returns null if cancelled. Must be called
 * during a click.
 */
export async function pick(what: 'files' | 'file' | 'folder'): Promise<Gathering | null> {
  // File handles survive a reload, but an input does not.
  try {
    if (what !== 'folder' && window.showOpenFilePicker)
      return await fromHandles(await window.showOpenFilePicker({ multiple: what === 'files' }))
    if (what === 'folder' && window.showDirectoryPicker)
      return await fromHandles([await window.showDirectoryPicker()])
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null
    throw error
  }
  return new Promise(resolve => {
    const picker = document.createElement('input')
    input = picker
    picker.type = 'file'
    picker.multiple = what !== 'file'
    picker.webkitdirectory = what === 'folder'
    picker.onchange = () => resolve(picker.files && fromInput(picker.files))
    picker.oncancel = () => resolve(null)
    input.click()
  })
}
