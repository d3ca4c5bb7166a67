import { fromHandles, fromInput, type Gathering } from './gather.ts'

/** Kept until the next one, because some browsers drop an input that nothing refers to while it is open. */
let input: HTMLInputElement | undefined

/** Lets the person pick files, or a folder. Null if they do not. Must be called for a click. */
export async function pick(what: 'files' | 'folder'): Promise<Gathering | null> {
  // Handles survive a reload; an input does not.
  try {
    if (what === 'files' && window.showOpenFilePicker)
      return await fromHandles(await window.showOpenFilePicker({ multiple: true }))
    if (what === 'folder' && window.showDirectoryPicker) return await fromHandles([await window.showDirectoryPicker()])
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null
    throw error
  }
  return new Promise(resolve => {
    const picker = document.createElement('input')
    input = picker
    picker.type = 'file'
    picker.multiple = true
    picker.webkitdirectory = what === 'folder'
    picker.onchange = () => resolve(picker.files && fromInput(picker.files))
    picker.oncancel = () => resolve(null)
    input.click()
  })
}
