import { fromHandles, fromInput, type Gathering } from './gather.ts'

/**
 * Kept until the next one, because some browsers drop an input that nothing refers to while it is
 * open.
 */
let input: HTMLInputElement | undefined

/**
 * Lets the person pick files, one file, or a folder. Null if they do not. Must be called for a
 * click.
 */
export async function pick(what: 'files' | 'file' | 'folder'): Promise<Gathering | null> {
  // Handles survive a reload; an input does not.
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
